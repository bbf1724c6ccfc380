package pytorch

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
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

// command is what puts torch into the interpreter, or, where that is not allowed, into a new virtual environment.
// options are those of pip install.
func (i installation) command(interpreter, options string) string {
	switch {
	case i.Managed && i.Ensure:
		return newEnvironment(interpreter)
	case i.Managed:
		return "apt-get install python3-venv && " + newEnvironment(interpreter)
	case !i.Pip && i.Ensure:
		return fmt.Sprintf("%s -m ensurepip && %s -m pip install %storch", interpreter, interpreter, options)
	}
	return fmt.Sprintf("%s -m pip install %storch", interpreter, options)
}

// newEnvironment is the command that makes a virtual environment with torch, and the flag that uses it.
func newEnvironment(interpreter string) string {
	return interpreter + " -m venv .venv && .venv/bin/pip install torch, then --python .venv/bin/python"
}
