package pytorch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The variables that name interpreters: with the oldest torch that is supported, with the newest, and of the oldest Python.
const (
	oldTorch    = "AUTOTUNE_PYTHON_OLD"
	newTorch    = "AUTOTUNE_PYTHON_NEW"
	oldestBuild = "AUTOTUNE_PYTHON_38"
	// required set to 1 makes an interpreter that is missing a failure.
	required = "AUTOTUNE_REQUIRE_PYTHON"
)

// interpreter is that of a variable; where it is not set, the test is skipped, or fails.
func interpreter(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path != "" {
		return path
	}
	const why = "%s is not set; it names a Python interpreter (scripts/find-python)"
	if os.Getenv(required) == "1" {
		t.Fatalf(why, variable)
	}
	t.Skipf(why, variable)
	return ""
}

// TestPython runs the worker's own tests, with the oldest torch and the newest.
func TestPython(t *testing.T) {
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			readTests(t)
			command := exec.Command(python, "-m", "unittest", "discover", "-s", "tests")
			command.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
			if output, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

// readTests reads the tests' files, so that a change of theirs makes go test run again what it has in its cache.
func readTests(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("tests/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests (%v)", err)
	}
	for _, file := range files {
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPythonCompiles compiles the worker's sources under the oldest Python that is supported.
func TestPythonCompiles(t *testing.T) {
	if os.Getenv(oldestBuild) == "" {
		t.Skipf("%s is not set; it names a Python 3.8", oldestBuild)
	}
	files, err := filepath.Glob("autotune_worker/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources (%v)", err)
	}
	const compile = "import sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
	if output, err := exec.Command(os.Getenv(oldestBuild), append([]string{"-c", compile}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
