//go:build unix

package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"autotune/harness"
)

const meminfo = "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n"

// tree makes a copy of /proc and /sys with the given files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc", "12"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("12", filepath.Join(root, "proc", "self")); err != nil {
		t.Fatal(err)
	}
	return root
}

const (
	mountsV2 = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
	mountsV1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n" +
		"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" +
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	// a container whose mount shows its own group as the root
	mountsInside = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n"
)

func TestContainerLimits(t *testing.T) {
	const MiB, GiB = int64(1 << 20), int64(1 << 30)
	for _, c := range []struct {
		name             string
		files            map[string]string
		version          int
		limit, available int64   // 0: nil, available 8 GiB
		cpus             float64 // 0: nil
	}{
		{"no groups", map[string]string{}, 0, 0, 8 * GiB, 0},
		{"v2 own limit", map[string]string{
			"proc/12/cgroup": "0::/app\n", "proc/12/mountinfo": mountsV2,
			"sys/fs/cgroup/app/memory.max": "1073741824\n", "sys/fs/cgroup/app/memory.high": "max\n", "sys/fs/cgroup/app/memory.current": "104857600\n",
			"sys/fs/cgroup/app/memory.stat": "anon 1\ninactive_file 52428800\n", "sys/fs/cgroup/app/cpu.max": "150000 100000\n",
		}, 2, GiB, GiB - 50*MiB, 1.5},
		{"v2 limit of a parent", map[string]string{
			"proc/12/cgroup": "0::/slice/app\n", "proc/12/mountinfo": mountsV2,
			"sys/fs/cgroup/slice/app/memory.max": "max\n", "sys/fs/cgroup/slice/memory.max": "536870912\n", "sys/fs/cgroup/slice/memory.current": "0\n",
			"sys/fs/cgroup/slice/app/cpu.max": "max 100000\n", "sys/fs/cgroup/slice/cpu.max": "400000 100000\n",
		}, 2, 512 * MiB, 512 * MiB, 4},
		{"v2 throttled below its limit", map[string]string{
			"proc/12/cgroup": "0::/app\n", "proc/12/mountinfo": mountsV2,
			"sys/fs/cgroup/app/memory.max": "1073741824\n", "sys/fs/cgroup/app/memory.high": "536870912\n",
		}, 2, 512 * MiB, 8 * GiB, 0},
		{"v2 no limit", map[string]string{
			"proc/12/cgroup": "0::/app\n", "proc/12/mountinfo": mountsV2, "sys/fs/cgroup/app/memory.max": "max\n",
		}, 2, 0, 8 * GiB, 0},
		{"v2 overdrawn", map[string]string{
			"proc/12/cgroup": "0::/\n", "proc/12/mountinfo": mountsV2,
			"sys/fs/cgroup/memory.max": "1048576\n", "sys/fs/cgroup/memory.current": "2097152\n",
		}, 2, MiB, -1, 0},
		{"v1", map[string]string{
			"proc/12/cgroup": "4:memory:/job/1\n2:cpu,cpuacct:/job\n0::/\n", "proc/12/mountinfo": mountsV1,
			"sys/fs/cgroup/memory/job/1/memory.limit_in_bytes": "2147483648\n", "sys/fs/cgroup/memory/job/1/memory.usage_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/job/1/memory.stat":         "inactive_file 7\ntotal_inactive_file 1073741824\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
		}, 1, 2 * GiB, 2 * GiB, 0.5},
		{"v1 no limit", map[string]string{
			"proc/12/cgroup": "4:memory:/\n2:cpu,cpuacct:/\n0::/\n", "proc/12/mountinfo": mountsV1,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		}, 1, 0, 8 * GiB, 0},
		{"v1 seen from inside a container", map[string]string{
			"proc/12/cgroup": "4:memory:/docker/abc\n", "proc/12/mountinfo": mountsInside,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 1, 256 * MiB, 8 * GiB, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["proc/meminfo"] = meminfo
			e := harness.ReadEnvironmentAt(tree(t, c.files))
			if got := value(e.CgroupVersion); got != c.version {
				t.Errorf("version %d, want %d", got, c.version)
			}
			if got := value(e.CgroupLimitBytes); got != c.limit {
				t.Errorf("limit %d, want %d", got, c.limit)
			}
			if got := value(e.AvailableBytes); got != max(c.available, 0) || e.AvailableBytes == nil {
				t.Errorf("available %d, want %d", got, c.available)
			}
			if got := value(e.CgroupCPUs); got != c.cpus {
				t.Errorf("processors %v, want %v", got, c.cpus)
			}
			if got := value(e.MemoryBytes); got != 16*GiB {
				t.Errorf("memory %d", got)
			}
		})
	}
}

// value is what a figure points to; the zero value for nil.
func value[N any](p *N) N {
	var zero N
	if p == nil {
		return zero
	}
	return *p
}

// TestEnvironmentWithoutFigures is a system that shows nothing.
func TestEnvironmentWithoutFigures(t *testing.T) {
	e := harness.ReadEnvironmentAt(t.TempDir())
	if e.Kernel != nil || e.CPUModel != nil || e.MemoryBytes != nil || e.AvailableBytes != nil || e.CgroupVersion != nil || e.CgroupLimitBytes != nil || e.CgroupCPUs != nil {
		t.Errorf("figures from nowhere: %+v", e)
	}
	if e.OS == "" || e.Arch == "" || e.Cores < 1 || e.GoVersion == "" || e.Versions == nil {
		t.Errorf("what every process knows is missing: %+v", e)
	}
}

func TestEnvironmentOfThisMachine(t *testing.T) {
	e := harness.ReadEnvironment()
	if e.MemoryBytes != nil && (e.AvailableBytes == nil || *e.AvailableBytes > *e.MemoryBytes || e.Kernel == nil || *e.Kernel == "") {
		t.Errorf("environment %+v", e)
	}
}
