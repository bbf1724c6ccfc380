// Package built builds the command for the scripts that run it as a user does.
package built

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Autotune builds the command into the folder, from the working folder's module, and gives the binary's path.
func Autotune(dir string) (string, error) {
	binary := filepath.Join(dir, "autotune")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/autotune").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}
