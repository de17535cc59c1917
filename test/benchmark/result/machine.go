package result

import (
	"os"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"
)

// Machine describes the machine that a report was made on.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	MemoryGiB int    `json:"memoryGiB"`
	Kernel    string `json:"kernel"`
	Go        string `json:"go"`
	// Load is the load average when the run began, before its own load.
	Load float64 `json:"load"`
}

// ThisMachine describes the machine that the program runs on, as far as the
// kernel reports it.
func ThisMachine() Machine {
	machine := Machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		machine.Kernel = strings.TrimSpace(string(release))
	}
	files, err := procfs.NewDefaultFS()
	if err != nil {
		return machine
	}
	if processors, err := files.CPUInfo(); err == nil && len(processors) > 0 && processors[0].ModelName != "" {
		machine.Processor = processors[0].ModelName
	}
	if memory, err := files.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		machine.MemoryGiB = int((*memory.MemTotalBytes + 1<<29) >> 30)
	}
	if load, err := files.LoadAvg(); err == nil {
		machine.Load = load.Load1
	}
	return machine
}
