package devices

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	gpuOutput = `0, GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77, NVIDIA A100-SXM4-40GB, 40960, 31949, 8505, Enabled
1, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, NVIDIA T4, Dell, 15360, [N/A], [N/A], [N/A]
`
	instanceOutput = `GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 3g.20gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)
  MIG 1g.5gb      Device  1: (UUID: MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d)
GPU 1: NVIDIA T4, Dell (UUID: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6)
`
	processOutput = `GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, 1234, /usr/bin/python3, 10240
MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d, 77, train, really, [N/A]
`
)

// fake puts an nvidia-smi on PATH that prints the outputs above, after the lines of a script.
func fake(t *testing.T, before string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	folder := t.TempDir()
	script := "#!/bin/sh\n" + before + `
case "$1" in
--query-gpu=*) cat <<'END'
` + gpuOutput + `END
;;
-L) cat <<'END'
` + instanceOutput + `END
;;
*) cat <<'END'
` + processOutput + `END
esac
`
	if err := os.WriteFile(filepath.Join(folder, "nvidia-smi"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestList(t *testing.T) {
	fake(t, "")
	list, err := List(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	a100, t4 := list[0], list[1]
	if a100.Name != "NVIDIA A100-SXM4-40GB" || *a100.TotalBytes != 40960<<20 || *a100.FreeBytes != 8505<<20 || !a100.Split || len(a100.Instances) != 2 ||
		a100.Instances[1].Profile != "1g.5gb" {
		t.Errorf("%+v", a100)
	}
	if t4.Name != "NVIDIA T4, Dell" || t4.UsedBytes != nil || t4.Split || len(t4.Instances) != 0 {
		t.Errorf("%+v", t4)
	}
	if got := a100.Busy(); got != "31.2 GiB used by others: train, really 77" {
		t.Errorf("busy: %s", got)
	}
	if got := t4.Busy(); got != "an unknown amount used by others: python3 1234" {
		t.Errorf("busy: %s", got)
	}
}

func TestListFails(t *testing.T) {
	t.Run("missing", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := List(t.Context()); err == nil || !strings.Contains(err.Error(), "not on PATH") {
			t.Errorf("%v", err)
		}
	})
	for said, before := range map[string]string{
		"couldn't communicate with the NVIDIA driver": "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; echo; exit 9",
		"not a valid field to query":                  "echo 'Field \"mig.mode.current\" is not a valid field to query.'; exit 2",
		"cannot be read":                              "echo no list at all; exit 0",
	} {
		t.Run(said, func(t *testing.T) {
			fake(t, before)
			_, err := List(t.Context())
			if err == nil || !strings.Contains(err.Error(), said) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestBusy(t *testing.T) {
	little, much := int64(500<<20), int64(3<<30)
	for _, c := range []struct {
		gpu  GPU
		want string
	}{
		{GPU{UsedBytes: &little}, ""},
		{GPU{}, ""},
		{GPU{UsedBytes: &much}, "3 GiB used by processes that cannot be seen from here"},
		{GPU{UsedBytes: &much, Processes: []Process{{PID: 1, Name: "a"}, {PID: 2, Name: "b"}, {PID: 3, Name: "c"}, {PID: 4, Name: "d"}, {PID: 5, Name: "e"}}},
			"3 GiB used by others: a 1, b 2, c 3, d 4, 1 more"},
	} {
		if got := c.gpu.Busy(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestVisible(t *testing.T) {
	list, err := parseGPUs(gpuOutput)
	if err != nil {
		t.Fatal(err)
	}
	addInstances(list, instanceOutput)
	for _, c := range []struct{ value, want string }{
		{"", ""},
		{"-1", ""},
		{"NoDevFiles", ""},
		{"0", "0:3g.20gb"},
		{"1,0", "1 0:3g.20gb"},
		{"1,7,0", "1"}, // nothing after one that does not exist
		{" 1 ", "1"},
		{"GPU-8932f937", "1"},
		{"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "1"},
		{"MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d", "0:1g.5gb"},
		{"GPU-0000", ""},
	} {
		var got []string
		for _, gpu := range Visible(list, c.value) {
			name := string(rune('0' + gpu.Index))
			for _, instance := range gpu.Instances {
				name += ":" + instance.Profile
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q shows %v, want %s", c.value, got, c.want)
		}
	}
	if len(list[0].Instances) != 2 {
		t.Error("the list itself was changed")
	}
}

func TestHere(t *testing.T) {
	list := []GPU{{Index: 0}, {Index: 1}}
	t.Setenv(VisibleVariable, "1")
	if got := Here(list); len(got) != 1 || got[0].Index != 1 {
		t.Errorf("%v", got)
	}
	if err := os.Unsetenv(VisibleVariable); err != nil {
		t.Fatal(err)
	}
	if got := Here(list); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// FuzzParse holds that no output of nvidia-smi makes a device twice as large, a negative size, or a panic.
func FuzzParse(f *testing.F) {
	f.Add(gpuOutput, processOutput, instanceOutput)
	f.Add("No devices were found\n", "", "")
	f.Add("0, GPU-1, , 9223372036854775807, -1, , [Not Supported]\r\n", "GPU-1, [N/A], x, 1", "GPU 0: (UUID: GPU-1)\n  MIG  (UUID: )")
	f.Fuzz(func(t *testing.T, gpus, processes, instances string) {
		list, err := parseGPUs(gpus)
		if err != nil {
			return
		}
		addInstances(list, instances)
		if addProcesses(list, processes) != nil {
			return
		}
		for _, gpu := range list {
			for _, size := range []*int64{gpu.TotalBytes, gpu.UsedBytes, gpu.FreeBytes} {
				if size != nil && (*size < 0 || *size%(1<<20) != 0) {
					t.Errorf("a size of %d", *size)
				}
			}
			if strings.Contains(gpu.Busy(), "\n") {
				t.Errorf("more than a clause: %q", gpu.Busy())
			}
		}
		if visible := Visible(list, "0,1"); len(visible) > len(list) || slices.ContainsFunc(visible, func(g GPU) bool { return g.Index > 1 }) {
			t.Errorf("%v shown of %v", visible, list)
		}
	})
}
