"""Generators and seeds: a generator per GPU, their states, and which generator a function takes."""

import torch


def a_generator_of_the_cpu_for_the_gpu():
    torch.rand(2, device="cuda", generator=torch.Generator("cpu"))


def a_generator_of_the_gpu_for_the_cpu():
    torch.rand(2, generator=torch.Generator("cuda"))


def a_generator_of_the_gpu_for_an_in_place_draw():
    torch.zeros(2).normal_(generator=torch.Generator("cuda:1"))


def a_generator_of_the_other_gpu():
    return str(torch.rand(2, device="cuda:0", generator=torch.Generator("cuda:1")).device)


def a_generator_with_a_permutation():
    torch.randperm(4, device="cuda", generator=torch.Generator())


def a_generator_with_dropout_of_weights():
    torch.multinomial(torch.tensor([1.0, 1.0]).cuda(), 1, generator=torch.Generator())


def generators_know_their_device():
    one = torch.Generator("cuda")
    two = torch.Generator(device=torch.device("cuda", 1))
    return [str(one.device), str(two.device), str(torch.Generator().device), one.device.index]


def a_generator_of_a_gpu_that_is_not_there():
    torch.Generator("cuda:4")


def seeds_are_kept():
    generator = torch.Generator("cuda:1").manual_seed(7)
    torch.cuda.manual_seed(11)
    first = torch.cuda.initial_seed()
    torch.manual_seed(13)
    return [generator.initial_seed(), first, torch.cuda.initial_seed(), torch.initial_seed()]


def seeds_of_all_gpus():
    torch.cuda.manual_seed_all(5)
    return [generator.initial_seed() for generator in torch.cuda.default_generators]


def a_seed_for_the_current_gpu_alone():
    torch.cuda.manual_seed_all(1)
    with torch.cuda.device(1):
        torch.cuda.manual_seed(2)
    return [generator.initial_seed() for generator in torch.cuda.default_generators]


def a_state_is_bytes_on_the_cpu():
    state = torch.cuda.get_rng_state()
    return [str(state.device), str(state.dtype), list(state.shape), torch.Generator("cuda").get_state().numel()]


def a_state_holds_the_seed_and_the_offset():
    torch.cuda.manual_seed(258)
    return torch.cuda.get_rng_state().tolist()


def a_draw_changes_the_state_of_its_gpu():
    torch.cuda.manual_seed_all(3)
    before = torch.cuda.get_rng_state_all()
    torch.rand(4, device="cuda:1")
    after = torch.cuda.get_rng_state_all()
    return [torch.equal(a, b) for a, b in zip(before, after, strict=True)]


def a_draw_on_the_gpu_leaves_the_cpu_alone():
    torch.manual_seed(0)
    first = torch.rand(3)
    torch.manual_seed(0)
    torch.rand(5, device="cuda")
    torch.zeros(3, device="cuda").normal_()
    return torch.equal(first, torch.rand(3))


def a_draw_on_the_cpu_leaves_the_gpu_alone():
    before = torch.cuda.get_rng_state()
    torch.rand(5)
    return torch.equal(before, torch.cuda.get_rng_state())


def a_state_is_put_back():
    torch.cuda.manual_seed(21)
    before = torch.cuda.get_rng_state()
    torch.rand(3, device="cuda")
    changed = not torch.equal(before, torch.cuda.get_rng_state())
    torch.cuda.set_rng_state(before)
    return [changed, torch.equal(before, torch.cuda.get_rng_state())]


def a_state_on_the_gpu_is_refused():
    torch.cuda.set_rng_state(torch.cuda.get_rng_state().cuda())


def a_state_of_the_cpu_is_refused():
    torch.cuda.set_rng_state(torch.get_rng_state())


def forked_randomness():
    torch.cuda.manual_seed_all(9)
    before = torch.cuda.get_rng_state(1)
    with torch.random.fork_rng(devices=[1]):
        torch.rand(3, device="cuda:1")
        inside = torch.equal(before, torch.cuda.get_rng_state(1))
    return [inside, torch.equal(before, torch.cuda.get_rng_state(1))]


def a_generator_cloned():
    generator = torch.Generator("cuda:1").manual_seed(4)
    twin = generator.clone_state()
    return [twin.initial_seed(), str(twin.device)]


def offsets_of_a_generator():
    generator = torch.Generator("cuda").manual_seed(4)
    before = generator.get_offset()
    generator.set_offset(8)
    return [before, generator.get_offset()]


def shuffling_with_a_generator_of_the_gpu():
    list(torch.utils.data.DataLoader([0, 1, 2], shuffle=True, generator=torch.Generator("cuda")))


def splitting_with_a_generator_of_the_gpu():
    torch.utils.data.random_split(range(4), [2, 2], generator=torch.Generator("cuda"))


def bernoulli_by_probabilities_elsewhere():
    torch.zeros(3, device="cuda").bernoulli_(torch.zeros(3))


def normal_with_a_deviation_elsewhere():
    torch.normal(torch.zeros(3, device="cuda"), torch.ones(3))


def initialisers_stay():
    x = torch.empty(3, 4, device="cuda:1")
    return [str(torch.nn.init.xavier_uniform_(x).device), str(torch.nn.init.trunc_normal_(x).device)]


def distributions_over_two_devices():
    normal = torch.distributions.Normal(torch.zeros(2, device="cuda"), torch.ones(2), validate_args=False)
    normal.log_prob(torch.zeros(2, device="cuda"))
