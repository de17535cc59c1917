package objectfiles

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// interlock has the kinds of Interlock that an API server serves. All others of its group are kinds of files.
var interlock = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(dependencyv1alpha1.AddToScheme(scheme))
	return scheme
}()

// programs has the programs whose configuration files have an API group that no API server serves.
var programs = map[string]string{
	"audit.k8s.io":                 "the audit log",
	"client.authentication.k8s.io": "kubectl",
	"kind.x-k8s.io":                "kind",
	"kubeadm.k8s.io":               "kubeadm",
	"kustomize.config.k8s.io":      "kustomize",
	"skaffold":                     "Skaffold",
}

// configSuffix ends the API groups of the configuration files of Kubernetes's own programs, such as kubelet.config.k8s.io.
const configSuffix = ".config.k8s.io"

// WithoutFileKinds returns the objects of kinds that an API server may serve, and a message for each other object. A release with the
// configuration file of a program could not be applied, and would give away the credentials in it.
func WithoutFileKinds(objects []manifest.Object) (kept []manifest.Object, messages []string) {
	for _, object := range objects {
		if reason := fileKind(object.GroupVersionKind()); reason != "" {
			messages = append(messages, leftOut(object.Path, reason))
			continue
		}
		kept = append(kept, object)
	}
	return kept, messages
}

// fileKind returns the reason for which a kind is for files, and not for objects on a cluster. It returns an empty string for others.
func fileKind(kind schema.GroupVersionKind) string {
	program, ok := programs[kind.Group]
	if configured, isConfig := strings.CutSuffix(kind.Group, configSuffix); isConfig && !ok {
		program, ok = configured, true
	}
	switch {
	case kind.Group == "" && kind.Version == "v1" && kind.Kind == "Config":
		return "it is a kubeconfig, which may have credentials, and no object of a cluster"
	case kind.Group == dependencyv1alpha1.GroupVersion.Group && !interlock.Recognizes(kind):
		return fmt.Sprintf("the %s is a file of kubectl addon, and no object of a cluster", text.Name(kind.Kind))
	case ok:
		return fmt.Sprintf("the %s of %s is no object of a cluster", text.Name(kind.Kind), text.Name(program))
	default:
		return ""
	}
}

// leftOut returns the message about a file or a folder that is left out.
func leftOut(path, reason string) string { return fmt.Sprintf("left out: %s: %s", path, reason) }
