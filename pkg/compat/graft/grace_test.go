package graft

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestKeepsAGraftForTheGracePeriod(t *testing.T) {
	b := newBench(t)
	original := bare(b.crd(t))
	b.expect(t, ReasonGrafted, true)
	b.expect(t, ReasonGrafted, true) // the API server has used it
	b.respond = refuse
	b.clock.Step(defaultInterval)
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(grace - time.Second)
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(2 * time.Second)
	b.expect(t, ReasonNotServed, false)
	if diff := cmp.Diff(original, bare(b.crd(t))); diff != "" {
		t.Errorf("given back (-found +now):\n%s", diff)
	}
	b.respond = nil
	b.expect(t, ReasonGrafted, true)
	if n := b.contested(t); n != 0 {
		t.Errorf("contested %v times", n)
	}
}

func TestAGraftOfAFormerProcessHasAllOfTheGrace(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.respond, b.history = refuse, history{}
	b.clock.Step(time.Hour)
	b.prepare()
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(grace + time.Second)
	b.expect(t, ReasonNotServed, false)
}

// A replica may wait for days before it leads, and a leader may be unable to read
// the CRD. Neither has observed a failure meanwhile.
func TestGraceBeginsWhenConversionIsSeenToFail(t *testing.T) {
	for name, interrupt := range map[string]func(*bench){
		"a standby that comes to lead": func(b *bench) { b.history = history{}; b.prepare() },
		"a hub that cannot be read":    func(b *bench) { b.expect(t, ReasonGrafted, true) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.expect(t, ReasonGrafted, true)
			interrupt(b)
			b.clock.Step(24 * time.Hour)
			b.respond = refuse
			b.expect(t, ReasonNotServed, true)
			b.clock.Step(grace / 2)
			b.respond = nil
			b.expect(t, ReasonGrafted, true)

			b.respond = refuse
			b.clock.Step(grace)
			b.expect(t, ReasonNotServed, true) // a new failure starts a new grace period
			b.clock.Step(grace + time.Second)
			b.expect(t, ReasonNotServed, false)
		})
	}
}

func TestGivesBackWhatTheAPIServerCannotUse(t *testing.T) {
	b := newBench(t)
	b.failToConvert(t, "conversion webhook failed")
	b.expect(t, ReasonGrafted, true)
	b.expect(t, ReasonNotServed, true)
	b.clock.Step(firstUse + time.Second)
	b.expect(t, ReasonNotServed, false)
	if wait := b.expect(t, ReasonNotServed, false).RequeueAfter; wait < 50*time.Second {
		t.Errorf("tried again after %s, although the API server could not use it", wait)
	}
	b.clock.Step(time.Minute + time.Second)
	b.expect(t, ReasonGrafted, true)

	b.fail = nil
	b.clock.Step(time.Minute)
	b.expect(t, ReasonGrafted, true)
}

func TestRestore(t *testing.T) {
	b := newBench(t)
	original := bare(b.crd(t))
	b.expect(t, ReasonGrafted, true)
	conflicts := 2
	b.fail = func(verb string, _ client.Object) error {
		if verb == "update" && conflicts > 0 {
			conflicts--
			return apierrors.NewConflict(crdResource.GroupResource(), CRDName, errors.New("another writer was first"))
		}
		return nil
	}
	for _, want := range []bool{true, false} {
		changed, err := Restore(t.Context(), b.Client)
		if err != nil || changed != want {
			t.Errorf("changed %t, error %v", changed, err)
		}
		if diff := cmp.Diff(original, bare(b.crd(t))); diff != "" {
			t.Errorf("given back (-found +now):\n%s", diff)
		}
	}
	if err := b.hub.Delete(t.Context(), b.crd(t)); err != nil {
		t.Fatal(err)
	}
	if changed, err := Restore(t.Context(), b.Client); changed || err != nil {
		t.Errorf("without a CRD: changed %t, error %v", changed, err)
	}
}
