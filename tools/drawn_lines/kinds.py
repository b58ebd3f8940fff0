"""The kinds of values that a drawn line holds: how they are created, and the names that they have in real programs.

All lengths are 4, so that almost anything fits almost anything: "mat" is 4 by 4, "vec" and "ids" have four elements,
"row" is 1 by 4, "img" is a batch of two pictures. `{device}` is an argument of a factory, or nothing for the CPU.
"""

TENSORS = {
    "mat": (
        "torch.rand(4, 4{device})",
        "torch.randn(4, 4{device})",
        "torch.ones(4, 4{device})",
        "torch.full((4, 4), 0.5{device})",
    ),
    "vec": (
        "torch.rand(4{device})",
        "torch.ones(4{device})",
        "torch.linspace(0.1, 1, 4{device})",
        "torch.tensor([0.1, 0.2, 0.3, 0.4]{device})",
    ),
    "ids": (
        "torch.arange(4{device})",
        "torch.tensor([0, 1, 2, 3]{device})",
        "torch.randint(0, 4, (4,){device})",
        "torch.zeros(4, dtype=torch.long{device})",
    ),
    "mask": ("torch.ones(4, 4, dtype=torch.bool{device})", "torch.eye(4, dtype=torch.bool{device})"),
    "img": ("torch.rand(2, 4, 4, 4{device})", "torch.ones(2, 4, 4, 4{device})"),
    "row": ("torch.zeros(1, 4{device})", "torch.randn(1, 4{device})"),
}
NAMES = {
    "mat": "x h logits hidden feats out q k v probs preds emb attn scores noise residual inputs z recon a b teacher",
    "vec": "w bias_term scale gamma beta mean std weights rewards lengths returns t sigma",
    "ids": "targets labels ids tokens idx y positions input_ids actions classes edge_index",
    "mask": "mask keep pad_mask is_pad valid attention_mask done",
    "img": "images img frames feature_map pixel_values patches",
    "row": "h0 state prev cls start",
}
ATTRIBUTES = {
    "mat": "kernel rotation memory pos_emb basis prior running adj codebook pe weight_matrix",
    "vec": "scale mean std class_weights alpha log_var temperature_per_head anchors betas priors",
    "ids": "index order vocab_ids anchor_ids positions relative_index perm",
    "mask": "mask causal_mask tril keep_mask",
    "img": "background template window",
    "row": "initial cls_token h_init",
}
KEYS = {
    "mat": "features logits image embeddings obs hidden",
    "vec": "weights rewards lengths scale",
    "ids": "labels input_ids targets actions",
    "mask": "mask attention_mask valid",
    "img": "pixel_values images",
    "row": "state h0",
}
FUNCTIONS = {
    "mat": "make_noise build_kernel get_features sample_prior rotation_of load_embeddings",
    "vec": "class_weights get_scale make_bias balanced_weights schedule",
    "ids": "make_positions get_labels sample_ids next_tokens",
    "mask": "make_mask causal_mask padding_mask",
    "img": "load_images render grid_of",
    "row": "init_hidden first_state",
}
LAYERS = {
    "linear": ("nn.Linear(4, 4)", "nn.Linear(4, 4, bias=False)", "nn.Sequential(nn.Linear(4, 4), nn.ReLU())"),
    "norm": ("nn.LayerNorm(4)",),
    "batchnorm": ("nn.BatchNorm1d(4)",),
    "embedding": ("nn.Embedding(4, 4)",),
    "conv": ("nn.Conv2d(4, 4, 3, padding=1)", "nn.Conv2d(4, 4, 1, bias=False)"),
    "imgnorm": ("nn.BatchNorm2d(4)", "nn.GroupNorm(2, 4)"),
    "lstm": ("nn.LSTM(4, 4)",),
    "gru": ("nn.GRU(4, 4)",),
    "attention": ("nn.MultiheadAttention(4, 2)",),
    "bilinear": ("nn.Bilinear(4, 4, 4)",),
    "prelu": ("nn.PReLU()",),
}
LAYER_NAMES = {
    "linear": "fc fc1 fc2 proj head encoder decoder classifier model net actor",
    "norm": "norm ln ln1 layer_norm",
    "batchnorm": "bn bn1",
    "embedding": "embed tok_emb wte embedding position_embedding_table",
    "conv": "conv conv1 stem backbone",
    "imgnorm": "bn2d group_norm",
    "lstm": "lstm rnn",
    "gru": "gru cell",
    "attention": "attention mha self_attn",
    "bilinear": "bilinear scorer",
    "prelu": "prelu",
}
# What a loss is without a tensor, and what it is with one, where {vec} is the culprit.
CRITERIA = {
    "ce": (
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)"),
        ("nn.CrossEntropyLoss(weight={vec})", "nn.CrossEntropyLoss({vec})", "nn.NLLLoss(weight={vec})"),
    ),
    "bce": (
        ("nn.BCEWithLogitsLoss()",),
        ("nn.BCEWithLogitsLoss(pos_weight={vec})", "nn.BCEWithLogitsLoss(weight={vec})"),
    ),
}
CRITERION_NAMES = "criterion loss_fn loss_func ce"
# Modules that hold no tensor: none of them can be on a device.
WITHOUT_TENSORS = {"act": "nn.ReLU()", "drop": "nn.Dropout(0.1)"}
