package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/procfs"
)

// Environment is the machine and software that a run ran on. A figure that the
// system does not give is null.
type Environment struct {
	OS          string  `json:"os"`
	Arch        string  `json:"arch"`
	Kernel      *string `json:"kernel"`
	CPUModel    *string `json:"cpu_model"`
	Cores       int     `json:"cores"` // that the process may use
	MemoryBytes *int64  `json:"memory_bytes"`
	// AvailableBytes is what could be had when the run began without pushing others out,
	// container limits heeded.
	AvailableBytes   *int64            `json:"available_bytes"`
	CgroupVersion    *int              `json:"cgroup_version"` // of the memory controller: 1 or 2
	CgroupLimitBytes *int64            `json:"cgroup_limit_bytes"`
	CgroupCPUs       *float64          `json:"cgroup_cpus"` // processor time a second that the quota allows
	GoVersion        string            `json:"go_version"`
	Commit           *string           `json:"commit"`   // of autotune; "-dirty" appended where it was changed
	Versions         map[string]string `json:"versions"` // of the modules that the program is built from
}

// ReadEnvironment reads the environment of this process.
func ReadEnvironment() Environment { return ReadEnvironmentAt("/") }

// ReadEnvironmentAt reads it with root before the paths of /proc and /sys, such
// as a copy of them. A figure whose file is missing there is nil; operating
// system, cores and versions are those of this process.
func ReadEnvironmentAt(root string) Environment {
	e := Environment{
		OS:        runtime.GOOS,
		Arch:      runtime.GOARCH,
		Cores:     runtime.NumCPU(),
		GoVersion: runtime.Version(),
		Versions:  map[string]string{},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e.readBuild(info)
	}
	if release, err := os.ReadFile(filepath.Join(root, "proc/sys/kernel/osrelease")); err == nil {
		kernel := strings.TrimSpace(string(release))
		e.Kernel = &kernel
	}
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return e // no Linux
	}
	e.readHardware(proc)
	e.readCgroups(root, proc)
	return e
}

// readBuild takes the commit and the modules from the build information.
func (e *Environment) readBuild(info *debug.BuildInfo) {
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		e.Versions[module.Path] = module.Version
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return
	}
	if settings["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	e.Commit = &commit
}

// readHardware takes the processor's model and the machine's memory.
func (e *Environment) readHardware(proc procfs.FS) {
	e.CPUModel = cpuModel(proc)
	memory, err := proc.Meminfo()
	if err != nil {
		return
	}
	e.MemoryBytes = signed(memory.MemTotalBytes)
	e.AvailableBytes = signed(memory.MemAvailableBytes)
}

// readCgroups takes the container's limits and lowers AvailableBytes to what they leave.
func (e *Environment) readCgroups(root string, proc procfs.FS) {
	groups, err := findCgroups(root, proc)
	if err != nil {
		return
	}
	if group := groups["memory"]; group != nil {
		limit, left := group.memory()
		e.CgroupVersion, e.CgroupLimitBytes = &group.version, limit
		e.AvailableBytes = least(e.AvailableBytes, left)
	}
	if group := groups["cpu"]; group != nil {
		e.CgroupCPUs = group.cpus()
	}
}

// signed is a figure of procfs, which are unsigned.
func signed(n *uint64) *int64 {
	if n == nil {
		return nil
	}
	s := int64(*n)
	return &s
}

// least is the smaller of two figures, where nil is none.
func least[N int64 | float64](a, b *N) *N {
	switch {
	case a == nil:
		return b
	case b == nil || *a <= *b:
		return a
	}
	return b
}
