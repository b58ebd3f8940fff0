"""The order in which causes are asked: the first that holds is the cause.

Each line is the id of a cause in the catalog and the function of this folder that tells the cause. A function that
takes cases which another would take too stands above that other.
"""

# Asked of each tensor in the wrong place, where tensors on two devices met.
DETECTIONS = (
    "grad_device: is_in_a_backward",
    "meta_device_leftover: is_on_meta",
    "generate_inputs_on_cpu: is_passed_to_generate",
    "adapter_beside_offloaded_layer: is_an_adapter_of_peft",
    "tokenizer_batch_on_cpu: is_of_an_encoding",
    "own_tensor_under_device_map: is_a_kv_cache",
    "library_bug: is_of_library",
    "hardcoded_cuda: program_runs_on_the_cpu",
    "optimizer_state_device: optimizer_failed",
    "in_place_or_copy: is_moved_without_effect",
    "loss_weight_not_moved: is_passed_to_a_loss",
    "hidden_state_not_moved: is_passed_as_hidden_state",
    "own_tensor_under_device_map: is_no_argument_of_a_hooked_layer",
    "loss_weight_not_moved: is_held_by_a_loss",
    "submodule_created_in_forward: is_created_in_forward",
    "split_model_activation_not_moved: met_a_parameter_on_another_gpu",
    "metric_or_accumulator_state: is_reset_without_a_device",
    "tensor_created_in_forward_without_device: is_put_in_a_buffers_place",
    "registered_after_move: others_were_moved",
    "model_moved_by_saving: was_taken_back",
    "model_not_moved: is_still_on_the_cpu",
    "split_model_activation_not_moved: is_kept_by_forward",
    "written_values_on_wrong_device: is_written_at_an_index_of_an_object",
    "data_parallel_unreplicated_state: is_shared_by_replicas",
    "tensor_created_in_forward_without_device: is_assigned_here",
    "cached_before_move: is_kept_from_a_call",
    "metric_or_accumulator_state: is_state_of_a_metric",
    "kept_in_a_list: is_in_a_list_or_a_dict",
    "index_on_wrong_device: is_indexed_in_an_object",
    "metric_or_accumulator_state: is_state_of_an_object",
    "unregistered_tensor_attribute: is_in_plain_python",
    "tensor_created_in_forward_without_device: is_created_by_an_object",
    "kept_by_a_plain_object: is_kept_by_an_object",
    "wrong_default_index: is_asked_for_without_a_number",
    "split_model_activation_not_moved: is_on_another_gpu",
    "cached_before_move: is_kept_by_a_function",
    "written_values_on_wrong_device: is_written_at_an_index",
    "tensors_of_two_devices_joined: is_in_a_list_of_two_devices",
    "running_total_reset: is_reset_in_a_loop",
    "metric_or_accumulator_state: grows_in_a_loop",
    "tensors_of_two_devices_joined: is_in_a_joined_list",
    "index_on_wrong_device: is_indexed",
    "target_not_moved: is_passed_as_target",
    "tensor_created_in_forward_without_device: is_created_in_a_models_code",
    "input_not_moved: is_passed_in",
)

# Asked of the failure as a whole, before its tensors are compared.
CLAIMS = (
    "data_parallel_unreplicated_state: failed_in_a_replica",
    "data_parallel_output_shape: returned_in_other_shapes",
    "data_parallel_output_on_cpu: returned_on_the_cpu",
    "grad_device: left_behind",
    "generate_inputs_on_cpu: left_beside_what_was_moved",
    "moved_under_hooks: is_not_where_its_hook_is",
    "inputs_moved_to_meta: lost_their_values",
    "pinned_after_the_move: was_moved_in_a_collate_fn",
    "ddp_output_left_out_of_loss: are_used_in_forward",
)
