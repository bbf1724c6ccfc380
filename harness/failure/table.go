package failure

import "regexp"

// find is a pattern for a text.
func find(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// protocolPage documents the types that the harness gives itself.
const protocolPage = "docs/protocol.md"

// table is tried from the top: what the harness saw itself, then texts that
// only look like memory, then memory, then what may be memory, then the rest.
var table = []Row{
	{Name: "interrupted", Type: TypeInterrupted, Means: Interrupted, Says: "stopped by the user", Source: protocolPage},
	{Name: "over the limit", Type: TypeOverLimit, Means: Memory, Says: "stopped when it had grown a quarter past the memory limit", Source: protocolPage},
	{Name: "deadline", Type: TypeDeadline, Means: Deadline, Says: "stopped at a deadline", Source: protocolPage},
	{Name: "unsupported", Type: TypeUnsupported, Means: Unsupported, Says: "the worker cannot do this", Source: protocolPage},
	{Name: "unsupported by the engine", Type: TypeEngineUnsupported, Means: Unsupported, Says: "the engine cannot do this", Source: protocolPage},
	{Name: "protocol", Type: TypeProtocol, Means: Protocol, Says: "the worker broke the protocol", Source: protocolPage},

	{Name: "triton shared memory", Text: find(`(?i)out of resource: shared memory`), Means: Other,
		Says: "one kernel asks for more on-chip memory than there is, which no batch size changes", Source: "https://github.com/state-spaces/mamba/issues/387"},

	{Name: "go heap", Text: find(`(?m)^fatal error: (runtime: |heapdump: )?(out of memory|cannot allocate memory)`), Means: Memory,
		Says: "the Go runtime got no more memory from the system", Source: "https://github.com/golang/go/blob/master/src/runtime/mem_linux.go"},
	{Name: "torch cuda", Text: find(`(CUDA|HIP) out of memory`), Means: Memory,
		Says: "the GPU's memory is full", Source: "https://github.com/pytorch/pytorch/issues/16417"},
	{Name: "torch mps", Text: find(`MPS backend out of memory`), Means: Memory,
		Says: "the memory that Metal may use is full", Source: "https://github.com/lllyasviel/Fooocus/issues/1139"},
	{Name: "cuda driver", Text: find(`CUDA error: out of memory`), Means: Memory,
		Says: "the CUDA driver has no more memory", Source: "https://github.com/OpenMOSS/MOSS/issues/328"},
	{Name: "torch cpu", Text: find(`DefaultCPUAllocator: can't allocate memory`), Means: Memory,
		Says: "the machine's memory is full", Source: "https://github.com/JingyunLiang/VRT/issues/49"},
	{Name: "xla", Text: find(`RESOURCE_EXHAUSTED: Out of memory`), Means: Memory,
		Says: "the device's memory is full", Source: "https://github.com/patrickbryant1/AFProfile/issues/8"},
	{Name: "tensorflow", Text: find(`OOM when allocating tensor`), Means: Memory,
		Says: "the device's memory is full", Source: "https://github.com/Azure/MachineLearningNotebooks/issues/880"},
	{Name: "torch shared memory", Text: find(`insufficient shared memory \(shm\)`), Means: Memory,
		Says: "/dev/shm, through which the data loader's processes hand over batches, is full", Source: "https://github.com/msr-fiddle/pipedream/issues/28"},
	{Name: "torch shared file", Text: find(`unable to write to file </torch_\S+>: No space left on device`), Means: Memory,
		Says: "/dev/shm, through which the data loader's processes hand over batches, is full", Source: "https://github.com/idiap/ESLAM/issues/20"},
	{Name: "slurm", Text: find(`(?i)Detected \d+ oom[-_]kill event`), Means: Memory,
		Says: "the job's memory is full: its control group ended it", Source: "https://github.com/ZwwWayne/K-Net/issues/30"},
	{Name: "errno", Text: find(`(?i)cannot allocate memory|\bENOMEM\b`), Means: Memory,
		Says: "the system gave no more memory", Source: "https://man7.org/linux/man-pages/man3/errno.3.html"},

	{Name: "cublas", Text: find(`CUBLAS_STATUS_ALLOC_FAILED`), Means: MaybeMemory,
		Says: "cuBLAS could not allocate its handle or workspace", Source: "https://github.com/QwenLM/Qwen3/issues/873"},
	{Name: "cudnn start", Text: find(`CUDNN_STATUS_NOT_INITIALIZED`), Means: MaybeMemory,
		Says: "cuDNN could not make its handle", Source: "https://github.com/seanie12/Info-HCVAE/issues/7"},
	{Name: "cudnn algorithm", Text: find(`Unable to find a valid cuDNN algorithm`), Means: MaybeMemory,
		Says: "no cuDNN algorithm ran, often as its workspace did not fit", Source: "https://github.com/deepakn97/relationPrediction/issues/37"},
	{Name: "data loader killed", Text: find(`DataLoader worker \(pid[^)]*\) is killed by signal: Killed`), Means: MaybeMemory,
		Says: "a process of the data loader was killed, mostly by the kernel for want of memory", Source: "https://github.com/hezhangsprinter/DCPDN/issues/12"},
	{Name: "launcher saw a kill", Text: find(`(return|exit) ?code:? ?=? ?-9\b`), Means: MaybeMemory,
		Says: "a process was killed, mostly by the kernel for want of memory", Source: "https://github.com/deepspeedai/DeepSpeed/issues/3232"},
	{Name: "killed, kernel out of memory", Signal: "SIGKILL", Kills: KillsSome, Means: MaybeMemory,
		Says: "killed while the kernel's out-of-memory killer was at work", Source: "https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer"},
	{Name: "killed", Signal: "SIGKILL", Kills: KillsUnknown, Means: MaybeMemory,
		Says: "killed, perhaps by the kernel for want of memory", Source: "https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer"},

	{Name: "other", Means: Other, Says: "failed for another reason than memory", Source: "https://man7.org/linux/man-pages/man7/signal.7.html"},
}
