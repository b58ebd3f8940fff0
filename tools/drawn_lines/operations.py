"""The operations that a culprit can fail in: a slot of them is the culprit's, the others are innocent.

The kind before the colon is that of the result: "any" where no other operation takes it. Slots of layers are the
culprit's too: then the layer is on the wrong device. A drawing that raises nothing is dropped, so a template need not
fail in each of its slots.
"""

_TABLE = """
mat: {mat} + {mat}
mat: {mat} - {mat}
mat: {mat} * {mat}
mat: {mat} / {mat}
mat: {mat} ** {mat}
mat: {mat} * {vec}
mat: {mat} + {vec}
mat: {mat} - {vec}
mat: {mat} / {vec}
mat: {vec} * {mat}
mat: {vec}[:, None] * {mat}
mat: {mat} * {vec}[:, None]
mat: ({mat} - {mat}) ** 2
mat: {mat} + {num} * {mat}
mat: {mat} * {mat} + {mat}
mat: {num} * {mat} + {num} * {mat}
mat: ({mat} - {vec}) / {num}
mat: {mat} % {mat}
mat: torch.add({mat}, {mat})
mat: torch.mul({mat}, {mat})
mat: torch.sub({mat}, {mat}, alpha={num})
mat: torch.maximum({mat}, {mat})
mat: torch.pow({mat}, {mat})
mat: torch.lerp({mat}, {mat}, {num})
mat: torch.addcmul({mat}, {mat}, {mat})
mat: torch.addcdiv({mat}, {mat}, {mat}, value=0.1)
mat: torch.clamp({mat}, min={mat})
mat: {mat}.clamp(max={mat})
mat: {mat}.add({mat})
mat: {mat}.mul({mat})
mat: {mat}.sub({vec})
mat: {mat}.lerp({mat}, 0.1)
mask: {mat} > {mat}
mask: {mat} == {mat}
mask: {mat} <= {vec}
mask: {mat} != {mat}
mask: {mask} & {mask}
mask: {mask} | {mask}
mask: torch.eq({mat}, {mat})
mask: {mat}.ge({mat})
mask: torch.logical_and({mask}, {mask})
any: {ids} == {ids}
any: {ids} != {ids}
any: ({ids} == {ids}).float().mean()
any: {ids}.eq({ids}).sum()
mat: {mat} @ {mat}
mat: {mat} @ {mat}.T
mat: {mat} @ {mat}.transpose(-2, -1) / {num}
mat: {mat}.matmul({mat})
mat: torch.matmul({mat}, {mat})
mat: torch.mm({mat}, {mat})
vec: torch.mv({mat}, {vec})
vec: {mat} @ {vec}
any: torch.dot({vec}, {vec})
mat: torch.outer({vec}, {vec})
mat: torch.addmm({mat}, {mat}, {mat})
any: torch.bmm({mat}.unsqueeze(0), {mat}.unsqueeze(0))
any: torch.bmm({mat}[None], {mat}[None])
mat: torch.einsum("ij,jk->ik", {mat}, {mat})
vec: torch.einsum("ij,j->i", {mat}, {vec})
any: torch.tensordot({mat}, {mat}, dims=1)
mat: torch.cat([{mat}, {mat}], dim=-1)[:, :4]
mat: torch.cat(({mat}, {mat}))[:4]
any: torch.cat([{mat}, {mat}, {mat}], dim=1)
any: torch.stack([{mat}, {mat}])
any: torch.stack(({vec}, {vec}), dim=1)
any: torch.hstack([{mat}, {mat}])
any: torch.vstack(({mat}, {mat}))
any: torch.cat([*{mats}, {mat}])
any: torch.stack([*{mats}, {mat}], dim=0)
any: F.mse_loss(*({mat}, {mat}))
any: torch.add(*[{mat}, {mat}])
any: F.cross_entropy(**{"input": {mat}, "target": {ids}})
any: sum([{mat}, {mat}, {mat}])
any: torch.cat([{vec}, {vec}, {vec}, {vec}])
any: torch.block_diag({mat}, {mat})
any: torch.cartesian_prod({vec}, {vec})
any: torch.meshgrid({vec}, {vec}, indexing="ij")
any: torch.linalg.solve({mat} + 99 * torch.eye(4, device=device), {mat})
mat: torch.baddbmm({mat}, {mat}[None], {mat}[None])[0]
mat: torch.addmv({vec}, {mat}, {vec})
mat: torch.clamp({mat}, {mat}, {mat})
mat: torch.fmod({mat}, {mat})
mat: torch.atan2({mat}, {mat})
mat: torch.hypot({mat}, {mat})
mat: torch.minimum({mat}, {vec})
mat: {mat} // {mat}
mat: {mat}.div({mat}, rounding_mode="floor")
mat: {mat}.fmod({mat})
mask: {mask} ^ {mask}
mask: {mat} >= {mat}
mask: torch.lt({mat}, other={mat})
mask: torch.isclose({mat}, {mat}, atol=1e-3)
any: {mat}.allclose({mat})
any: {mat}.dist({mat})
any: {mat}.view(-1).dot({mat}.view(-1))
any: {vec} @ {vec}
any: {mat}.index_add(0, {ids}, {mat}, alpha=2)
any: {mat}.index_put(({ids},), {mat})
any: {mat}.masked_scatter({mask}, {mat})
any: {mat}.take({ids})
any: torch.masked_select({mat}, {mask})
any: torch.scatter({mat}, 1, {ids}.unsqueeze(1), {mat})
any: torch.scatter_reduce({vec}, 0, {ids}, {vec}, reduce="sum")
any: torch.quantile({mat}, {vec}.clamp(0, 1))
any: {mat}[{ids}, {ids}]
any: {mat}[{mask}].mean()
any: {mat}[:, {ids}].sum()
any: {vec}[{mat}.argmax(1) == {ids}]
mat: torch.where({mask}, {mat}, {mat})
mat: torch.where({mask}, {mat}, {num})
mat: torch.where({mat} > {num}, {mat}, {mat})
mat: {mat}.where({mask}, {mat})
mat: {mat}.masked_fill({mask}, {num})
mat: {mat}.masked_fill({mat} == 0, {num})
any: {mat}.masked_select({mask})
any: {mat}[{mask}]
mat: {mat}[{ids}]
vec: {vec}[{ids}]
mat: {mat}[:, {ids}]
any: {mat}[torch.arange(4, device=device), {ids}]
any: {mat}.gather(1, {ids}.unsqueeze(1))
any: {mat}.gather(1, {ids}[:, None]).squeeze(1)
any: torch.gather({mat}, 1, {ids}.view(-1, 1))
vec: torch.gather({vec}, 0, {ids})
mat: torch.index_select({mat}, 0, {ids})
mat: {mat}.index_select(dim=0, index={ids})
vec: {vec}.take({ids})
any: torch.take_along_dim({mat}, {ids}[:, None], dim=1)
mat: torch.zeros(4, 4, device=device).scatter(0, {ids}.unsqueeze(0), {mat})
mat: {mat}.scatter_(1, {ids}.unsqueeze(1), 1.0)
mat: {mat}.scatter_add(0, {ids}[None].expand(4, 4), {mat})
vec: torch.zeros(4, device=device).scatter_add_(0, {ids}, {vec})
mat: {mat}.index_add_(0, {ids}, {mat})
mat: {mat}.index_copy(0, {ids}, {mat})
any: torch.bucketize({mat}, {vec})
any: torch.searchsorted({vec}, {mat})
any: torch.isin({ids}, {ids})
any: torch.bincount({ids}, weights={vec})
mat: torch.cdist({mat}, {mat})
any: torch.allclose({mat}, {mat})
any: torch.equal({mat}, {mat})
any: torch.isclose({mat}, {mat})
any: torch.kron({mat}, {mat})
any: torch.cross({mat}[:, :3], {mat}[:, :3], dim=1)
any: torch.repeat_interleave({mat}, {ids}, dim=0)
mat: F.linear({mat}, {mat})
mat: F.linear({mat}, {mat}, {vec})
mat: F.linear({mat}, weight={mat}, bias={vec})
mat: F.embedding({ids}, {mat})
mat: F.layer_norm({mat}, (4,), {vec}, {vec})
mat: F.layer_norm({mat}, (4,), weight={vec}, bias={vec})
mat: F.batch_norm({mat}, {vec}, {vec})
img: F.conv2d({img}, {img}[:, :, :1, :1].repeat(2, 1, 1, 1))
mat: F.prelu({mat}, {vec})
any: F.bilinear({mat}, {mat}, {mat}.expand(4, 4, 4))
any: F.cosine_similarity({mat}, {mat}, dim=-1)
any: F.pairwise_distance({mat}, {mat})
any: F.cross_entropy({mat}, {ids})
any: F.cross_entropy({mat}.view(-1, 4), {ids}.view(-1))
any: F.cross_entropy({mat}, {ids}, weight={vec})
any: F.cross_entropy({mat}, {ids}, weight={vec}, reduction="sum")
any: F.cross_entropy(input={mat}, target={ids})
any: F.nll_loss(F.log_softmax({mat}, dim=-1), {ids})
any: F.mse_loss({mat}, {mat})
any: F.mse_loss(input={mat}, target={mat}, reduction="none")
any: F.l1_loss({mat}, {mat})
any: F.smooth_l1_loss({mat}, {mat}, beta=0.5)
any: F.kl_div(F.log_softmax({mat}, dim=-1), {mat}, reduction="batchmean")
any: F.binary_cross_entropy_with_logits({mat}, {mat})
any: F.binary_cross_entropy_with_logits({mat}, {mat}, pos_weight={vec})
any: F.binary_cross_entropy(torch.sigmoid({mat}), {mask}.float())
any: F.scaled_dot_product_attention({mat}, {mat}, {mat})
any: F.scaled_dot_product_attention({mat}, {mat}, {mat}, attn_mask={mask})
any: F.multilabel_soft_margin_loss({mat}, {mask}.float(), weight={vec})
any: F.huber_loss({mat}, {mat})
any: F.gaussian_nll_loss({mat}, {mat}, {mat}.abs() + 0.1)
any: F.cosine_embedding_loss({mat}, {mat}, {vec})
any: F.triplet_margin_loss({mat}, {mat}, {mat})
any: F.margin_ranking_loss({vec}, {vec}, {vec})
any: F.embedding_bag({ids}[None], {mat})
mat: F.group_norm({mat}, 2, {vec}, {vec})
img: F.instance_norm({img}, weight={vec}, bias={vec})
img: F.conv2d({img}, {img}.repeat(2, 1, 1, 1), padding="same")
img: {img} + {img}
img: {img} * {vec}.view(1, -1, 1, 1)
img: ({img} - {vec}[None, :, None, None]) / {vec}[None, :, None, None]
img: torch.cat([{img}, {img}], dim=1)[:, :4]
any: F.mse_loss({img}, {img})
img: {conv}({img}) + {img}
mat: {linear}(F.relu({linear}({mat})))
mat: {linear}({mat}) + {mat}
mat: {linear}({mat} + {mat})
mat: {linear}(torch.cat([{mat}[:, :2], {mat}[:, 2:]], dim=-1))
any: F.cross_entropy({linear}({mat}), {ids})
any: F.mse_loss({linear}({mat}), {mat})
mat: {norm}({linear}({mat}) + {mat})
any: {linear}({mat}).argmax(dim=-1) == {ids}
any: {lstm}({mat}.unsqueeze(0))
any: F.grid_sample({img}, {img}[..., :2])
mat: {linear}({mat})
mat: {linear}({mat})
mat: {linear}({mat}.view(-1, 4))
mat: {linear}({linear}({mat}))
mat: {norm}({mat})
mat: {norm}({mat} + {mat})
mat: {batchnorm}({mat})
mat: {embedding}({ids})
mat: {embedding}({ids})
mat: {embedding}({ids}) + {mat}
mat: {embedding}({ids}) + {embedding}({ids})
img: {conv}({img})
img: {imgnorm}({img})
img: {imgnorm}({conv}({img}))
any: {lstm}({mat})[0]
any: {lstm}({mat}, ({row}, {row}))
any: {gru}({mat}, {row})
any: {gru}({mat})[1]
any: {attention}({mat}, {mat}, {mat})
any: {attention}({mat}, {mat}, {mat}, need_weights=False)[0]
any: {attention}({mat}, {mat}, {mat}, attn_mask={mask})
mat: {bilinear}({mat}, {mat})
mat: {prelu}({mat})
any: {ce}({mat}, {ids})
any: {ce}({mat}, {ids})
any: {ce}({linear}({mat}), {ids})
any: {ce}({mat}.view(-1, {mat}.size(-1)), {ids}.view(-1))
any: {bce}({mat}, {mat})
any: {bce}({mat}, {mask}.float())
""".strip().splitlines()

# The statements that write: {matplace} is a name, an attribute or an item that a tensor is kept in.
WRITES = """
{matplace} += {mat}
{matplace} -= {num} * {mat}
{matplace} *= {vec}
{matplace} /= {mat}
{maskplace} &= {mask}
{matplace} @= {mat}
{matplace}[{mask}] += {num}
{matplace}[{ids}] = {mat}
{matplace}[{ids}] += {mat}
{matplace}[0] += {vec}
{matplace}.add_({mat})
{matplace}.add_({mat}, alpha={num})
{matplace}.mul_({vec})
{matplace}.mul_(0.9).add_({mat}, alpha=0.1)
{matplace}.lerp_({mat}, 0.1)
{matplace}.addcmul_({mat}, {mat})
{matplace}.masked_fill_({mask}, {num})
{matplace}.scatter_(1, {ids}.unsqueeze(1), 1.0)
{matplace}.index_add_(0, {ids}, {mat})
{matplace}.index_fill_(0, {ids}, {num})
{vecplace}.index_put_(({ids},), {vec})
{vecplace} += {vec}
{vecplace}.scatter_add_(0, {ids}, {vec})
{matplace}.data.add_({mat})
""".strip().splitlines()

OPERATIONS = [(line.partition(": ")[0], line.partition(": ")[2]) for line in _TABLE]
