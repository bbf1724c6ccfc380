package pytorch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Interpreter is the Python interpreter that trains.
type Interpreter struct {
	Path string
	// Looked says, place by place, where one was looked for until this was found, a clause each.
	Looked []string
}

// FindInterpreter gives the interpreter that was asked for, else that of the active virtual environment
// (VIRTUAL_ENV, or CONDA_PREFIX), else python3 on PATH. It does not go on to the next place where one
// is named and does not exist: nobody wants another Python than the one that is active. Errors name every place.
func FindInterpreter(asked string) (Interpreter, error) {
	var in Interpreter
	if asked != "" {
		return in.at("--python "+asked, asked)
	}
	in.Looked = append(in.Looked, "--python: not given")
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if folder := os.Getenv(variable); folder != "" {
			return in.at("the active environment, "+variable, filepath.Join(folder, "bin", "python"))
		}
		in.Looked = append(in.Looked, variable+": not set")
	}
	return in.at("python3 on PATH", "python3")
}

// at takes the program of a name or a path.
func (in Interpreter) at(place, program string) (Interpreter, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		in.Looked = append(in.Looked, fmt.Sprintf("%s: %s", place, whyNot(program, err)))
		return in, in.unusable("name one by --python FILE; where there is none, install Python 3.8 or newer (Debian: apt-get install python3-venv), then: " +
			newEnvironment("python3", "torch"))
	}
	in.Path = path
	in.Looked = append(in.Looked, fmt.Sprintf("%s: %s", place, path))
	return in, nil
}

// whyNot is why a program cannot be used, with the folder's own interpreter where a folder was named.
func whyNot(program string, err error) string {
	if info, failed := os.Stat(program); failed == nil && info.IsDir() {
		return fmt.Sprintf("a folder; did you mean %s?", filepath.Join(program, "bin", "python"))
	}
	if !strings.ContainsRune(program, filepath.Separator) {
		return "there is no such program on PATH"
	}
	var failed *exec.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}

// unusable is the error of an engine without a torch that can be used.
func (in Interpreter) unusable(help string) error {
	lines := []string{"no PyTorch that can be used was found:"}
	for _, place := range in.Looked {
		lines = append(lines, "  "+place)
	}
	return noEngine("%s", strings.Join(append(lines, "This helps: "+help), "\n"))
}
