package ondemand

import (
	"strings"
	"testing"
	"time"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
)

// The delay of a removal is a setting, so no message may name a time.
func TestTheMessageOfUnusedNamesTheSetting(t *testing.T) {
	unused := installation.Decision{Desired: &installation.Installation{Phase: dependencyv1alpha1.PhaseUnused}}
	got := conditionOf(unused, time.Time{}).Message
	if !strings.Contains(got, "--lifecycle-removal-delay") || strings.Contains(got, "hour") {
		t.Errorf("got %q", got)
	}
}
