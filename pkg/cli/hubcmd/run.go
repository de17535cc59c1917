package hubcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/preflight"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/rendering"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/hubrelease"
)

// ErrPreflight is the error of a hub that a check has refused.
var ErrPreflight = errors.New("a check failed, and nothing was written")

var errNoPlace = errors.New("the chart of a checkout does not name a place for its images: " +
	"--registry REGISTRY pushes those of --images there, or --set images.prefix=PREFIX names the place")

// application is a run of install or upgrade.
type application struct {
	*options
	hub *source.Applier
	set *applyset.Set
	// current is the record of the installation. It is nil if there is none. next is the record to write.
	current *hubrecord.Record
	next    *hubrecord.Record
	release *hubrelease.Release
	// images are the images to push, and targets their references in the registry. There are none without --registry.
	images      []hubrelease.Image
	targets     []name.Reference
	closeImages func() error
	// unbuilt is whether the images of a checkout do not exist yet. Then only the names of images are known.
	unbuilt    bool
	kubernetes string
	// namespaceExists is set by the preflight.
	namespaceExists bool
	rendered        *rendering.Rendered
}

func (o *options) run(ctx context.Context) (err error) {
	hub, err := o.source.ConnectToApply()
	if err != nil {
		return err
	}
	a := &application{options: o, hub: hub, set: hubrecord.Set(hub, o.namespace), closeImages: func() error { return nil }}
	// The preflight reports a missing right.
	if a.current, err = hubrecord.Read(ctx, a.set); err != nil && !apierrors.IsForbidden(err) {
		return source.HubError(err, hub.Host)
	}
	if o.install && a.current == nil {
		o.upgrade = false
	}
	defer func() { err = errors.Join(err, a.closeImages()) }()
	if err := a.prepare(ctx); err != nil {
		return err
	}
	facts, err := a.facts(ctx)
	if err != nil {
		return source.HubError(err, hub.Host)
	}
	diagnosis := preflight.Check(facts)
	if err := doctor.Write(o.results(), o.source, diagnosis); err != nil {
		return err
	}
	if o.dryRun {
		if err := a.printPlan(ctx, facts.Plan); err != nil {
			return err
		}
	}
	switch {
	case diagnosis.Failed():
		return ErrPreflight
	case o.dryRun:
		return nil
	}
	return a.carryOut(ctx)
}

// prepare reads the release and renders its chart.
func (a *application) prepare(ctx context.Context) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	values, err := a.values(a.earlier().Values)
	if err != nil {
		return cmdline.UsageError(err)
	}
	a.next = next(a.release, a.earlier(), values, a.registry, a.options.release == "")
	if a.registry != "" {
		if err := a.readImages(ctx); err != nil {
			return err
		}
	}
	if images, _ := values["images"].(map[string]any); !a.release.IsPublished() && a.next.Registry == "" && images["prefix"] == nil {
		return cmdline.UsageError(errNoPlace)
	}
	if a.kubernetes, err = a.source.KubernetesVersion(ctx); err != nil {
		return err
	}
	return a.render()
}

// readImages reads the images to push.
func (a *application) readImages(ctx context.Context) error {
	a.source.ShowProgress("Reading the images of Interlock " + a.release.Version())
	images, closeImages, err := a.release.Images(ctx, a.client())
	switch a.unbuilt = a.dryRun && errors.Is(err, hubrelease.ErrNoImages); {
	case a.unbuilt:
		images = a.release.Unbuilt()
	case err != nil:
		return err
	default:
		a.closeImages = closeImages
	}
	a.images = images
	for i := range images {
		target, err := hubrelease.Target(a.client(), prefix(a.registry), &images[i])
		if err != nil {
			return cmdline.UsageError(fmt.Errorf("--registry=%q: %w", a.registry, err))
		}
		a.targets = append(a.targets, target)
	}
	if !a.release.IsPublished() {
		a.next.Tag = images[0].Tag
	}
	return nil
}

// earlier returns the record of the installation, or an empty one.
func (a *application) earlier() *hubrecord.Record {
	if a.current == nil {
		return &hubrecord.Record{}
	}
	return a.current
}

// open reads the release of the argument, or the installed one.
func (a *application) open(ctx context.Context) error {
	if a.options.release != "" {
		a.source.ShowProgress("Reading " + a.options.release)
		var err error
		a.release, err = hubrelease.Open(ctx, a.client(), a.options.release, a.options.images)
		return err
	}
	if a.current == nil {
		return notInstalled(ctx, a.hub, a.namespace)
	}
	chart, err := hubrelease.ReadChart(a.current.Chart)
	if err != nil {
		return fmt.Errorf("the chart in the Secret %s: %w", a.set.Parent, err)
	}
	a.release = &hubrelease.Release{Chart: chart, Archive: a.current.Chart}
	return nil
}

// next returns the record to write. sameVersion is whether the installed chart stays.
func next(release *hubrelease.Release, current *hubrecord.Record, values map[string]any, registry string, sameVersion bool) *hubrecord.Record {
	record := &hubrecord.Record{
		State: hubrecord.Applying, Version: release.Version(), Chart: release.Archive, Values: values, Registry: registry,
	}
	images, _ := values["images"].(map[string]any)
	if images["prefix"] == nil && registry == "" {
		record.Registry = current.Registry
	}
	// A tag of images that a checkout has built belongs to this chart only.
	if sameVersion && images["tag"] == nil {
		record.Tag = current.Tag
	}
	return record
}

// render renders the chart with the values of the next record.
func (a *application) render() error {
	var err error
	a.rendered, err = rendering.Render(a.release.Chart, a.next.RenderValues(prefix(a.next.Registry)), rendering.Options{
		Namespace: a.namespace, Kubernetes: a.kubernetes, Upgrade: a.upgrade, Hub: a.hub,
	})
	if err != nil {
		return cmdline.UsageError(err)
	}
	a.next.Kinds = applyset.KindsOf(a.rendered.Objects, a.earlier().Kinds...)
	return nil
}

func prefix(registry string) string {
	if registry == "" {
		return ""
	}
	return hubrelease.Prefix(registry)
}

// find returns the rendered objects of a kind.
func (a *application) find(kind string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, object := range a.rendered.Objects {
		if object.GetKind() == kind {
			objects = append(objects, object)
		}
	}
	return objects
}
