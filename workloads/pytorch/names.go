package pytorch

import "strings"

// Names says whether a model's name is one that only this engine has: FILE.py, or one with a colon.
func Names(model string) bool { return strings.Contains(model, ":") || strings.HasSuffix(model, ".py") }

// Forms are the forms of such names.
func Forms() []string {
	return []string{"torchvision:NAME", "timm:NAME", "transformers:NAME", "PACKAGE.MODULE:CALLABLE", "FILE.py:FUNCTION"}
}

// parts are the file or the package of a model's name, and what is named in it: of a file build, where nothing is.
func parts(model string) (source, name string) {
	if strings.HasSuffix(model, ".py") {
		return model, "build"
	}
	at := strings.LastIndex(model, ":")
	return model[:max(at, 0)], model[at+1:]
}
