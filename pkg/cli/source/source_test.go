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
	for denied, want := range map[string]string{
		`User "me" cannot watch resource "managedclusters" in API group "a" at the cluster scope`: "ask for the right to watch that; ",
		`User "me" cannot list resource "managedclusters" in API group "a" at the cluster scope`:  "ask for the right to list that; ",
		`User "me" cannot get resource "deployments" in API group "apps"`:                         "ask for the right to get that; ",
	} {
		err := HubError(apierrors.NewForbidden(schema.GroupResource{Resource: "r"}, "", errors.New(denied)), "https://hub")
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
