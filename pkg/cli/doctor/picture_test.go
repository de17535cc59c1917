package doctor

import (
	"flag"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/picture"
)

var _ = flag.Bool("update", false, "write what the verb prints")

// TestPageShowsOutput tests that docs/kubectl-addon.md shows the output for a hub with a silent agent, as text and as a picture.
func TestPageShowsOutput(t *testing.T) {
	diagnosis := diagnoseChanged(t, func(_ objects, c *snapshot.Content) {
		c.AddOns[0].Status.Conditions[0].Status = metav1.ConditionUnknown
	})
	if !diagnosis.Failed() {
		t.Error("all checks succeed")
	}
	src := &source.Source{Config: genericclioptions.NewConfigFlags(true)}
	var out strings.Builder
	if err := Write(&out, src, diagnosis); err != nil {
		t.Fatal(err)
	}
	picture.Compare(t, "../testdata/doctor.txt", out.String())
	screen := &picture.Screen{Terminal: terminal.Screen{Width: 80, Colored: true}}
	if err := Write(screen, src, diagnosis); err != nil {
		t.Fatal(err)
	}
	picture.Compare(t, "../../../docs/terminal/doctor-80.svg", picture.SVG("kubectl addon doctor", strings.TrimSpace(screen.String()), 80))
}
