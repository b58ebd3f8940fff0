"""Layers and losses whose input, target or state is somewhere else."""

import torch
from torch import nn

# A recurrent layer asks cuDNN to lay out its weights as soon as it is moved; the recorder has none.
_without_cudnn = torch.backends.cudnn.flags(enabled=False)


def linear_on_the_cpu_input_on_the_gpu():
    nn.Linear(4, 2)(torch.zeros(3, 4, device="cuda"))


def linear_on_one_gpu_input_on_the_other():
    nn.Linear(4, 2).to("cuda:1")(torch.zeros(3, 4, device="cuda:0"))


def linear_of_three_dimensions():
    nn.Linear(4, 2).cuda()(torch.zeros(2, 3, 4))


def linear_of_one_dimension_without_bias():
    nn.Linear(4, 2, bias=False).cuda()(torch.zeros(4))


def bilinear():
    nn.Bilinear(2, 3, 4).cuda()(torch.zeros(5, 2, device="cuda"), torch.zeros(5, 3))


def conv1d_weight_on_the_cpu():
    nn.Conv1d(2, 3, 3)(torch.zeros(4, 2, 9, device="cuda"))


def conv3d_input_on_the_cpu():
    nn.Conv3d(1, 1, 3).cuda()(torch.zeros(2, 1, 5, 5, 5))


def conv2d_bias_alone_on_the_cpu():
    nn.functional.conv2d(torch.zeros(2, 1, 5, 5, device="cuda"), torch.zeros(1, 1, 3, 3, device="cuda"), torch.zeros(1))


def conv2d_in_half_precision_on_the_cpu():
    nn.Conv2d(1, 1, 3).cuda().half()(torch.zeros(2, 1, 5, 5, device="cuda"))


def conv_transpose_weight_on_the_cpu():
    nn.ConvTranspose2d(1, 1, 3)(torch.zeros(2, 1, 5, 5, device="cuda"))


def batch_norm_input_on_the_cpu():
    nn.BatchNorm1d(3).cuda()(torch.zeros(4, 3))


def batch_norm_in_evaluation():
    nn.BatchNorm2d(3).eval().cuda()(torch.zeros(2, 3, 4, 4))


def group_norm_input_on_the_cpu():
    nn.GroupNorm(2, 4).cuda()(torch.zeros(2, 4, 3))


def instance_norm_input_on_the_cpu():
    nn.InstanceNorm1d(4, affine=True).cuda()(torch.zeros(2, 4, 3))


def rms_norm_input_on_the_cpu():
    nn.RMSNorm(4).cuda()(torch.zeros(2, 4))


def prelu_input_on_the_cpu():
    nn.PReLU(3).cuda()(torch.zeros(2, 3))


def embedding_on_the_cpu_ids_on_the_gpu():
    nn.Embedding(5, 2)(torch.tensor([[0, 4]]).cuda())


def embedding_bag_offsets_on_the_cpu():
    nn.EmbeddingBag(5, 2).cuda()(torch.tensor([0, 1, 2]).cuda(), torch.tensor([0, 2]))


def embedding_bag_ids_on_the_cpu():
    nn.EmbeddingBag(5, 2).cuda()(torch.tensor([[0, 1], [2, 3]]))


@_without_cudnn
def lstm_input_on_the_cpu():
    nn.LSTM(3, 4).cuda()(torch.zeros(5, 2, 3))


@_without_cudnn
def lstm_state_on_the_cpu():
    nn.LSTM(3, 4).cuda()(torch.zeros(5, 2, 3, device="cuda"), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)))


@_without_cudnn
def gru_state_on_the_cpu():
    nn.GRU(3, 4).cuda()(torch.zeros(5, 2, 3, device="cuda"), torch.zeros(1, 2, 4))


@_without_cudnn
def rnn_on_the_cpu_input_on_the_gpu():
    nn.RNN(3, 4)(torch.zeros(5, 2, 3, device="cuda"))


def lstm_cell_state_on_the_cpu():
    nn.LSTMCell(3, 4).cuda()(torch.zeros(2, 3, device="cuda"), (torch.zeros(2, 4), torch.zeros(2, 4)))


def gru_cell_input_on_the_cpu():
    nn.GRUCell(3, 4).cuda()(torch.zeros(2, 3))


def packing_with_lengths_on_the_gpu():
    nn.utils.rnn.pack_padded_sequence(torch.zeros(4, 2, 3, device="cuda"), torch.tensor([4, 2]).cuda())


def packing_with_lengths_on_the_cpu():
    packed = nn.utils.rnn.pack_padded_sequence(torch.zeros(4, 2, 3, device="cuda"), torch.tensor([4, 2]))
    return [str(packed.data.device), str(packed.batch_sizes.device), packed.is_cuda, packed.batch_sizes.tolist()]


def padding_sequences_of_two_devices():
    nn.utils.rnn.pad_sequence([torch.zeros(2, device="cuda"), torch.zeros(3)])


def attention_query_elsewhere():
    attention = nn.MultiheadAttention(4, 2, batch_first=True).cuda()
    memory = torch.zeros(1, 5, 4, device="cuda")
    attention(torch.zeros(1, 3, 4), memory, memory)


def attention_mask_on_the_cpu():
    attention = nn.MultiheadAttention(4, 2, batch_first=True).cuda()
    x = torch.zeros(1, 3, 4, device="cuda")
    attention(x, x, x, attn_mask=torch.zeros(3, 3), need_weights=False)


def attention_padding_mask_on_the_cpu():
    attention = nn.MultiheadAttention(4, 2, batch_first=True).cuda()
    x = torch.zeros(1, 3, 4, device="cuda")
    attention(x, x, x, key_padding_mask=torch.zeros(1, 3, dtype=torch.bool))


def scaled_dot_product_key_on_the_other_gpu():
    q = torch.zeros(1, 2, 3, 4, device="cuda:0")
    nn.functional.scaled_dot_product_attention(q, q.to("cuda:1"), q)


def scaled_dot_product_mask_on_the_cpu():
    q = torch.zeros(1, 2, 3, 4, device="cuda:0")
    nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(3, 3))


def transformer_layer_input_on_the_cpu():
    nn.TransformerEncoderLayer(4, 2, 8).cuda()(torch.zeros(3, 1, 4))


def transformer_mask_on_the_cpu():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda()
    layer(torch.zeros(1, 3, 4, device="cuda"), src_mask=torch.zeros(3, 3))


def cross_entropy_target_on_the_cpu():
    nn.CrossEntropyLoss()(torch.zeros(2, 3, device="cuda"), torch.tensor([0, 2]))


def cross_entropy_of_images_target_on_the_cpu():
    nn.CrossEntropyLoss()(torch.zeros(2, 3, 4, 4, device="cuda"), torch.zeros(2, 4, 4, dtype=torch.long))


def cross_entropy_with_probabilities():
    nn.CrossEntropyLoss()(torch.zeros(2, 3, device="cuda"), torch.full((2, 3), 1 / 3))


def cross_entropy_with_smoothing_and_weight():
    loss = nn.CrossEntropyLoss(weight=torch.ones(3), label_smoothing=0.1)
    loss(torch.zeros(2, 3, device="cuda"), torch.tensor([0, 2]).cuda())


def a_loss_is_moved_with_its_weight():
    loss = nn.CrossEntropyLoss(weight=torch.ones(3)).cuda()
    return [str(loss.weight.device), str(loss(torch.zeros(2, 3, device="cuda"), torch.tensor([0, 2]).cuda()).device)]


def mean_squared_error():
    nn.MSELoss()(torch.zeros(3, device="cuda"), torch.zeros(3))


def absolute_error_with_a_number_for_target():
    return str(nn.L1Loss()(torch.zeros((), device="cuda"), torch.zeros(())).device)


def huber():
    nn.HuberLoss()(torch.zeros(3, device="cuda"), torch.zeros(3))


def binary_cross_entropy():
    nn.BCELoss()(torch.zeros(3, device="cuda"), torch.zeros(3))


def kl_divergence():
    nn.KLDivLoss(reduction="batchmean")(torch.zeros(2, 3), torch.zeros(2, 3, device="cuda"))


def cosine_embedding():
    x = torch.zeros(2, 3, device="cuda")
    nn.CosineEmbeddingLoss()(x, x, torch.tensor([1.0, -1.0]))


def triplet_margin():
    x = torch.zeros(2, 3, device="cuda")
    nn.TripletMarginLoss()(x, x, torch.zeros(2, 3))


def ctc_with_targets_on_the_cpu():
    scores = torch.zeros(6, 2, 4, device="cuda").log_softmax(2)
    loss = nn.CTCLoss()(scores, torch.tensor([[1, 2], [3, 1]]), torch.tensor([6, 6]), torch.tensor([2, 2]))
    return str(loss.device)


def one_hot_on_the_cpu_times_gpu():
    nn.functional.one_hot(torch.tensor([0, 2]), 3) * torch.zeros(2, 3, device="cuda")


def cosine_similarity():
    nn.functional.cosine_similarity(torch.zeros(2, 3, device="cuda"), torch.zeros(2, 3))


def grid_sample_with_the_grid_on_the_cpu():
    nn.functional.grid_sample(torch.zeros(1, 1, 4, 4, device="cuda"), torch.zeros(1, 2, 2, 2), align_corners=False)


def gumbel_and_dropout_stay():
    x = torch.zeros(2, 3, device="cuda:1")
    return [str(nn.functional.gumbel_softmax(x).device), str(nn.Dropout()(x).device)]
