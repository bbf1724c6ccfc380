package devices

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// patience is how long one call of nvidia-smi may take; it is slow where the driver has to be loaded.
const patience = 20 * time.Second

// List asks nvidia-smi for all GPUs of the machine, hidden ones too. The error says in one line why there is no list.
func List(ctx context.Context) ([]GPU, error) {
	if _, err := exec.LookPath("nvidia-smi"); err != nil {
		return nil, errors.New("nvidia-smi is not on PATH, so that no NVIDIA device is looked for")
	}
	output, err := smi(ctx, "--query-gpu="+gpuFields, "--format=csv,noheader,nounits")
	if err != nil {
		return nil, err
	}
	list, err := parseGPUs(output)
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi's list of devices cannot be read: %w", err)
	}
	if slices.ContainsFunc(list, func(g GPU) bool { return g.Split }) {
		if output, err = smi(ctx, "-L"); err != nil {
			return nil, err
		}
		addInstances(list, output)
	}
	output, err = smi(ctx, "--query-compute-apps="+processFields, "--format=csv,noheader,nounits")
	if err != nil {
		return nil, err
	}
	if err := addProcesses(list, output); err != nil {
		return nil, fmt.Errorf("nvidia-smi's list of processes cannot be read: %w", err)
	}
	return list, nil
}

// smi runs nvidia-smi. What it says of a failure stands on stdout as often as on stderr.
func smi(ctx context.Context, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "nvidia-smi", arguments...)
	command.WaitDelay = time.Second
	output, err := command.Output()
	if err == nil {
		return string(output), nil
	}
	said := string(output)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said += " " + string(exit.Stderr)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return "", fmt.Errorf("nvidia-smi failed (%w): %s", err, strings.Join(strings.Fields(said), " "))
}
