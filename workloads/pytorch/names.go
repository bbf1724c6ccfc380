package pytorch

import "strings"

// Names says whether a model's name is one that only this engine has: FILE.py, or one with a colon.
func Names(model string) bool { return strings.Contains(model, ":") || strings.HasSuffix(model, ".py") }

// Forms are the forms of such names.
func Forms() []string {
	return []string{"torchvision:NAME", "timm:NAME", "transformers:NAME", "PACKAGE.MODULE:CALLABLE", "FILE.py:FUNCTION"}
}
