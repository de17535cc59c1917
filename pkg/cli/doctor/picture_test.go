package doctor

import (
	"flag"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/picture"
)

var _ = flag.Bool("update", false, "write what the verb prints")

// The page docs/kubectl-addon.md shows a hub with an agent that is silent, as text and as a
// picture.
func TestPageShowsWhatDoctorPrints(t *testing.T) {
	taken := content()
	taken.AddOns[0].Status.Conditions[0].Status = metav1.ConditionUnknown
	on := &hub{
		Reader: wellHub(), fleet: snapshot.New(taken), namespace: "interlock-system", now: fixture.Now.Add(time.Second),
		source: &source.Source{Config: genericclioptions.NewConfigFlags(true)},
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	if err := examine(t.Context(), on, streams); err == nil {
		t.Error("all checks succeed")
	}
	picture.Compare(t, "../testdata/doctor.txt", out.String())
	screen := &picture.Screen{On: terminal.Screen{Width: 80, Colored: true}}
	streams.Out = screen
	_ = examine(t.Context(), on, streams) // the same failure
	picture.Compare(t, "../../../docs/terminal/doctor-80.svg", picture.SVG("kubectl addon doctor", strings.TrimSpace(screen.String()), 80))
}
