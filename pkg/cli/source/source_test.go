package source

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestHubErrorNamesMissingRight(t *testing.T) {
	const denied = `User "me" cannot watch resource "managedclusters" in API group "a" at the cluster scope`
	err := HubError(apierrors.NewForbidden(schema.GroupResource{Resource: "r"}, "", errors.New(denied)), "https://hub")
	for _, want := range []string{denied, "ask for that right; docs/kubectl-addon.md lists"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestNewWarnings tests that known warnings are not shown, because a plan has shown them already.
func TestNewWarnings(t *testing.T) {
	var shown strings.Builder
	writer := rest.NewWarningWriter(&shown, rest.WarningWriterOptions{})
	for _, handler := range []newWarnings{{writer, func(warning string) bool { return warning == "known" }}, {writer, nil}} {
		for _, warning := range []string{"known", "new"} {
			handler.HandleWarningHeader(299, "-", warning)
		}
	}
	if got := shown.String(); got != "Warning: new\nWarning: known\nWarning: new\n" {
		t.Errorf("shows %q", got)
	}
}
