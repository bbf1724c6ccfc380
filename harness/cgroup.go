package harness

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// cgroup is the control group of this process for one controller, with its parents.
type cgroup struct {
	version int
	// levels are folders from the process's own group up to the root that is mounted; a
	// limit of any of them holds.
	levels []string
}

// noLimit is where version 1 says "none": it writes the largest page count in
// bytes, a little below 2^63 (Documentation/admin-guide/cgroup-v1/memory.rst).
const noLimit = 1 << 62

// findCgroups gives the groups that hold the memory and cpu controllers. Version
// 1 has one hierarchy a controller, version 2 one for all; a system may have both
// at once, and a controller is then where version 1 lists it
// (Documentation/admin-guide/cgroup-v2.rst).
func findCgroups(root string, proc procfs.FS) (map[string]*cgroup, error) {
	self, err := proc.Self()
	if err != nil {
		return nil, err
	}
	memberships, err := self.Cgroups()
	if err != nil {
		return nil, err
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return nil, err
	}
	found := map[string]*cgroup{}
	for _, controller := range []string{"memory", "cpu"} {
		for _, m := range memberships {
			unified := m.HierarchyID == 0
			if !unified && !slices.Contains(m.Controllers, controller) || unified && found[controller] != nil {
				continue
			}
			if mount := cgroupMount(mounts, unified, controller); mount != nil {
				found[controller] = newCgroup(root, mount, m.Path, unified)
			}
		}
	}
	return found, nil
}

// cgroupMount is where a hierarchy is mounted; nil: nowhere.
func cgroupMount(mounts []*procfs.MountInfo, unified bool, controller string) *procfs.MountInfo {
	for _, m := range mounts {
		_, has := m.SuperOptions[controller]
		if unified && m.FSType == "cgroup2" || !unified && m.FSType == "cgroup" && has {
			return m
		}
	}
	return nil
}

// newCgroup lists the levels from path up to the mount's root. In a container
// the mount may show another part of the hierarchy than path names: the levels
// that do not exist there are left out, the mount point itself stays.
func newCgroup(root string, mount *procfs.MountInfo, path string, unified bool) *cgroup {
	g := &cgroup{version: 1}
	if unified {
		g.version = 2
	}
	top := filepath.Join(root, mount.MountPoint)
	below, err := filepath.Rel(mount.Root, path)
	if err != nil || strings.HasPrefix(below, "..") {
		below = "."
	}
	for ; below != "."; below = filepath.Dir(below) {
		if level := filepath.Join(top, below); isFolder(level) {
			g.levels = append(g.levels, level)
		}
	}
	g.levels = append(g.levels, top)
	return g
}

// isFolder says whether path is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// memory is the smallest limit of the levels, and the least that one of them
// leaves, in bytes; nil: no limit. What can be reclaimed at once (inactive file
// pages) counts as left.
func (g *cgroup) memory() (limit, left *int64) {
	usage, reclaimable := "memory.current", "inactive_file"
	limits := []string{"memory.max", "memory.high"}
	if g.version == 1 {
		usage, reclaimable = "memory.usage_in_bytes", "total_inactive_file"
		limits = []string{"memory.limit_in_bytes"}
	}
	for _, level := range g.levels {
		var bound *int64
		for _, file := range limits {
			bound = least(bound, readLimit(filepath.Join(level, file)))
		}
		if bound == nil {
			continue
		}
		limit = least(limit, bound)
		if used := readLimit(filepath.Join(level, usage)); used != nil {
			inactive, _ := readField(filepath.Join(level, "memory.stat"), reclaimable)
			free := min(*bound, max(0, *bound-*used+inactive))
			left = least(left, &free)
		}
	}
	return limit, left
}

// cpus is the least processor time a second that the quotas of the levels allow; nil: no quota.
func (g *cgroup) cpus() *float64 {
	var cpus *float64
	for _, level := range g.levels {
		var fields []string
		if g.version == 1 {
			fields = append(readWords(filepath.Join(level, "cpu.cfs_quota_us")), readWords(filepath.Join(level, "cpu.cfs_period_us"))...)
		} else {
			fields = readWords(filepath.Join(level, "cpu.max"))
		}
		if len(fields) != 2 {
			continue
		}
		quota, err1 := strconv.ParseFloat(fields[0], 64)
		period, err2 := strconv.ParseFloat(fields[1], 64)
		if err1 == nil && err2 == nil && quota > 0 && period > 0 {
			share := quota / period
			cpus = least(cpus, &share)
		}
	}
	return cpus
}

// readWords is the content of a small file, split at spaces; nil where it cannot be read.
func readWords(path string) []string {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(content))
}

// readLimit is the number in a file of one word; nil where there is none, or no limit ("max").
func readLimit(path string) *int64 {
	words := readWords(path)
	if len(words) != 1 {
		return nil
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || n < 0 || n >= noLimit {
		return nil
	}
	return &n
}

// readField is the number beside a name in a file of names and numbers.
func readField(path, name string) (value int64, found bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		if field, text, cut := strings.Cut(lines.Text(), " "); cut && field == name {
			value, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return value, err == nil
		}
	}
	return 0, false
}
