"""Sizes, names, shapes and configuration of a nano model of Phi-3.5-vision's family in the original layout."""
import torch

from .export import decoder_names, pair, projector_names, split_names, tower_names, unused_block
from .family import PHI3V
from .model import Sizes

IMAGE = "model.vision_embed_tokens."
TOWER = IMAGE + "img_processor.vision_model."
PAIRS = 16  # that RoPE turns


def sizes(vocab):
    # The short factors grow as LongRoPE's do. With these the first three quarters of the pairs turn as they do in Phi-4-multimodal's
    # family, where a quarter of a head isn't turned at all: what one decoder knows of positions the other can take over.
    return Sizes(family=PHI3V, vocab=vocab, kv_heads=4, tied=False, ranks={}, rotary_fraction=1.0, vision_eps=1e-5,
                 short_factors=tuple(round(10000 ** (i / 48), 4) for i in range(PAIRS)))


def names(s):
    """checkpoint name -> name in Nano."""
    return {**decoder_names(s), **tower_names(s, TOWER), **projector_names(IMAGE), **pair(TOWER + "pre_layrnorm", "vision.pre_norm"),
            TOWER + "embeddings.patch_embedding.weight": "vision.patch.weight", TOWER + "embeddings.class_embedding": "vision.class_token",
            TOWER + "embeddings.position_embedding.weight": "vision.position"}


def packed_names(s):
    """Names whose tensors are parts of a packed one: checkpoint name -> (name in Nano, part of 3)."""
    return split_names(s.vision_layers, TOWER + "encoder.layers.{}.self_attn.{}_proj", "vision.blocks.{}.qkv")


def shape_of(name, s, value):
    """The checkpoint's shape of a tensor whose torch module has another one."""
    if name.endswith("position_embedding.weight"):
        return torch.cat([torch.zeros(1, s.vision_hidden), value])  # of the class token, which has it already
    return value


def own_shape(name, value):
    """The torch module's values of a checkpoint's tensor."""
    return value[1:] if name.endswith("position_embedding.weight") else value


def unused(s):
    """What the released code loads and never runs."""
    return unused_block(s, TOWER)


def ends(tokenizer):
    """(bos, eos ids, padding)."""
    special = tokenizer.special
    return special["<s>"], [special["<|end|>"], special["<|assistant|>"], special["<|endoftext|>"]], special["<|endoftext|>"]


def configuration(s, tokenizer):
    special = tokenizer.special
    return {
        "architectures": ["Phi3VForCausalLM"], "attention_dropout": 0.0,
        "auto_map": {"AutoConfig": "configuration_phi3_v.Phi3VConfig", "AutoModelForCausalLM": "modeling_phi3_v.Phi3VForCausalLM"},
        "bos_token_id": special["<s>"],
        "embd_layer": {"embedding_cls": "image", "hd_transform_order": "sub_glb", "projection_cls": "mlp", "use_hd_transform": True,
                       "with_learnable_separator": True},
        "embd_pdrop": 0.0, "eos_token_id": special["</s>"], "hidden_act": "silu", "hidden_size": s.hidden,
        "img_processor": {
            "image_dim_out": s.vision_hidden, "model_name": "openai/clip-vit-large-patch14-336", "name": "clip_vision_model",
            "num_img_tokens": 144,
            "clip_config": {"hidden_size": s.vision_hidden, "intermediate_size": s.vision_intermediate,
                            "num_hidden_layers": s.vision_layers + 1, "num_attention_heads": s.vision_heads}},
        "initializer_range": 0.02, "intermediate_size": s.intermediate, "max_position_embeddings": s.context, "model_type": "phi3_v",
        "num_attention_heads": s.heads, "num_hidden_layers": s.layers, "num_key_value_heads": s.kv_heads,
        "original_max_position_embeddings": s.original_context, "pad_token_id": special["<|endoftext|>"], "resid_pdrop": 0.0,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {"long_factor": [round(f * (1 + 3 * i / (PAIRS - 1)), 4) for i, f in enumerate(s.short_factors)],
                         "short_factor": list(s.short_factors), "type": "su"},
        "rope_theta": s.rope_theta, "sliding_window": 262144, "tie_word_embeddings": False, "torch_dtype": "bfloat16", "use_cache": True,
        "vocab_size": s.vocab,
    }


PREPROCESSOR = {
    "auto_map": {"AutoProcessor": "processing_phi3_v.Phi3VProcessor", "AutoImageProcessor": "processing_phi3_v.Phi3VImageProcessor"},
    "num_crops": PHI3V.most_crops, "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_processor_type": "Phi3VImageProcessor",
    "image_std": [0.26862954, 0.26130258, 0.27577711], "processor_class": "Phi3VProcessor", "num_img_tokens": 144}
