package pytorch

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// installation is what an interpreter says of itself where torch is missing.
type installation struct {
	Version string `json:"version"`
	// Managed says that pip refuses to install into it (PEP 668), as in Debian's Python.
	Managed bool `json:"managed"`
	Pip     bool `json:"pip"`       // it has pip
	Ensure  bool `json:"ensurepip"` // it can make pip, as virtual environments need
}

const askInstallation = `import sys
del sys.path[0] # the working folder, whose files may be named like modules
import importlib.util, json, os, sysconfig
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "managed": sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")),
    "pip": importlib.util.find_spec("pip") is not None,
    "ensurepip": importlib.util.find_spec("ensurepip") is not None}))`

// installationOf asks the interpreter; false: it is no Python that answers.
func installationOf(ctx context.Context, interpreter string) (installation, bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var answer installation
	output, err := exec.CommandContext(ctx, interpreter, "-c", askInstallation).Output()
	if err != nil || json.Unmarshal(output, &answer) != nil {
		return installation{}, false
	}
	return answer, true
}

// command is what puts packages into the interpreter, or, where that is not allowed, into a new virtual environment.
// options are those of pip install.
func (i installation) command(interpreter, options, packages string) string {
	switch {
	case i.Managed && i.Ensure:
		return newEnvironment(interpreter, packages)
	case i.Managed:
		return "apt-get install python3-venv && " + newEnvironment(interpreter, packages)
	case !i.Pip && i.Ensure:
		return fmt.Sprintf("%s -m ensurepip && %s -m pip install %s%s", interpreter, interpreter, options, packages)
	}
	return fmt.Sprintf("%s -m pip install %s%s", interpreter, options, packages)
}

// newEnvironment is the command that makes a virtual environment with packages, and the flag that uses it. Where torch is
// none of them it is that of the interpreter.
func newEnvironment(interpreter, packages string) string {
	options := ""
	if packages != "torch" {
		options = "--system-site-packages "
	}
	return fmt.Sprintf("%s -m venv %s.venv && .venv/bin/pip install %s, then --python .venv/bin/python", interpreter, options, packages)
}

// released are versions of torch that pip can be told to keep.
var released = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// missing says how a package that the interpreter lacks comes to it, beside the version of torch that is there: pip would
// replace that for the newest torchvision, for one. The name of a package on PyPI is that of the module for libraries that
// are known alone.
func (in Interpreter) missing(ctx context.Context, name, torch string) string {
	python, answers := installationOf(ctx, in.Path)
	if !answers {
		python.Pip = true
	}
	help := "This helps: "
	if !slices.Contains([]string{"torchvision", "timm", "transformers"}, name) {
		name, help = "NAME", "A package is put there by: "
	}
	if version, _, _ := strings.Cut(torch, "+"); released.MatchString(version) {
		name += " torch==" + version
	}
	return help + python.command(in.Path, "", name)
}
