package index

import (
	"fmt"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// hookAnnotation is the annotation of Helm for objects that it creates at one moment only, such as before the deletion of a chart.
const hookAnnotation = "helm.sh/hook"

// WithoutHooks returns the objects that are no Helm hooks, and a message for each hook. Without Helm, a hook is created with all other
// objects: a Job that deletes the data before the deletion of a chart would delete them at its installation.
func WithoutHooks(objects []manifest.Object) (kept []manifest.Object, messages []string) {
	for _, object := range objects {
		types, isHook := object.GetAnnotations()[hookAnnotation]
		if !isHook {
			kept = append(kept, object)
			continue
		}
		messages = append(messages, fmt.Sprintf("left out: %s: %s %s is a Helm hook (%s)%s",
			object.Path, text.Name(object.GetKind()), text.Name(object.GetName()), text.Excerpt(types), hookAdvice(types)))
	}
	return kept, messages
}

// hookAdvice returns what to do about a hook that the add-on may need, as the end of a message.
func hookAdvice(types string) string {
	has := func(hook string) bool {
		return slices.ContainsFunc(strings.Split(types, ","), func(name string) bool { return strings.TrimSpace(name) == hook })
	}
	switch {
	case has("crd-install"):
		return ": Helm 2 created it before all else. If the add-on needs it, move it to the folder crds of the chart, or remove " +
			"the annotation " + hookAnnotation
	case has("pre-install"):
		return ": Helm creates it before all else. If the add-on needs it, apply it before the release, or remove the " +
			"annotation " + hookAnnotation
	case has("post-install"):
		return ": Helm creates it after all else. If the add-on needs it, apply it after the release, or remove the annotation " + hookAnnotation
	default:
		return ": the add-on is installed without it"
	}
}
