package ondemand

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// once runs a write of another leader right before or after a write of this one.
func (b *bench) once(moment string, otherLeader func()) {
	b.crash = func(now string) error {
		if now == moment {
			b.crash = func(string) error { return nil }
			otherLeader()
		}
		return nil
	}
}

// The next leader forgets an installation, because the owner pauses and nothing is installed, before the write of the
// former leader arrives.
func TestAFormerLeaderStoresWhatANewOneHasForgotten(t *testing.T) {
	for name, test := range map[string]struct {
		bench func(*testing.T) *bench
		step  string
	}{
		"Created": {func(t *testing.T) *bench { return newBench(t, 1) }, "before create ManagedClusterAddOn base"},
		"Labeled": {func(t *testing.T) *bench { return newLabelBench(t, 1, 2) }, "before apply ManagedCluster cluster000"},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.bench(t)
			b.once(test.step, func() {
				object := &dependencyv1alpha1.AddOnInstallation{}
				object.Namespace, object.Name = clusterOf(0).Name, "base"
				b.delete(t, object)
			})
			if b.settle(t); b.stored(t) != "Installed" || b.installed(t) != 1 {
				t.Errorf("stored %q, %d are installed", b.stored(t), b.installed(t))
			}
		})
	}
}

// The write of the former leader arrives while the next one forgets the installation.
func TestANewLeaderRestoresWhatAFormerOneInstalls(t *testing.T) {
	for name, test := range map[string]struct {
		bench func(*testing.T) *bench
		step  string
		write func(*testing.T, *bench)
	}{
		"Created": {
			bench: func(t *testing.T) *bench { return newBench(t, 1) },
			step:  "before create ManagedClusterAddOn base",
			write: func(t *testing.T, b *bench) {
				created := addOn(0, "base")
				created.Labels = map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock}
				b.create(t, created)
			},
		},
		"Labeled": {
			bench: func(t *testing.T) *bench { return newLabelBench(t, 1, 2) },
			step:  "before apply ManagedCluster cluster000",
			write: func(t *testing.T, b *bench) { b.setLabel(t, true) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.bench(t)
			b.crash = func(now string) error { // the former leader has stored its decision only
				if now == test.step {
					return errCrash
				}
				return nil
			}
			if _, err := b.round(t, 0); err == nil || b.stored(t) == "" {
				t.Fatalf("%v, stored %q", err, b.stored(t))
			}
			b.lead()
			b.register(t, b.placed(t, "{installStrategy: {type: Manual}}"), fixture.Specified(t, "leaf", needing))
			b.once("before delete AddOnInstallation base", func() { test.write(t, b) })
			b.settle(t)
			if stored := b.stored(t); stored == "" || !b.labeled(t, 0) && b.installed(t) != 1 {
				t.Errorf("stored %q, %d are installed", stored, b.installed(t))
			}
		})
	}
}
