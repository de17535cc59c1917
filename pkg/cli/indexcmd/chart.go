package indexcmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/chart"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
	"open-cluster-management.io/interlock/pkg/text"
)

// buildChart builds releases from a chart. Add-ons that report no version get the version of the chart.
func (o *options) buildChart() ([]index.Entry, error) {
	rendered, err := chart.Render(o.chart)
	if err != nil {
		return nil, cmdline.UsageError(err)
	}
	if len(rendered.Dependencies) > 0 {
		o.report([]string{fmt.Sprintf("%s: the dependencies in Chart.yaml are charts and no add-ons, and are not in the index: %s. "+
			"What add-ons depend on is declared in a ClusterManagementAddOn",
			rendered.Name, strings.Join(rendered.Dependencies, ", "))})
	}
	objects, leftOut := objectfiles.WithoutFileKinds(rendered.Objects)
	o.report(leftOut)
	objects = o.withoutHooks(objects)
	if err := o.checkRandom(rendered, objects); err != nil {
		return nil, err
	}
	if rendered.KubeVersion != "" {
		if err := index.RequireKubernetes(objects, rendered.KubeVersion); err != nil {
			return nil, cmdline.UsageError(fmt.Errorf("%s: Chart.yaml: kubeVersion: %w", o.chart, err))
		}
		o.report([]string{fmt.Sprintf("%s: kubeVersion in Chart.yaml, '%s', is a requirement of its add-ons on the managed cluster",
			rendered.Name, text.Excerpt(rendered.KubeVersion))})
	}
	if err := errors.Join(o.checkVersions(objects), checkUsable(objects)); err != nil {
		return nil, err
	}
	o.warn(objects)
	versions := map[string]string{}
	for _, object := range objects {
		if rendered.VersionError == nil {
			versions[object.GetName()] = rendered.Version
		}
	}
	maps.Copy(versions, o.versions)
	entries, err := index.Build(objects, cmp.Or(o.origin, "chart "+rendered.Name+" "+rendered.Version), versions)
	if _, ok := index.Unversioned(err); ok && rendered.VersionError != nil {
		return nil, fmt.Errorf("%s: %w", o.chart, rendered.VersionError)
	}
	return entries, err
}

// checkRandom refuses values that differ from one rendering to the next one. They may be passwords or keys, which an index would have in
// clear text, the same for all hubs. It only reports labels and annotations, and what is no part of the release.
func (o *options) checkRandom(rendered *chart.Rendered, objects []manifest.Object) error {
	for _, file := range rendered.Timed {
		o.report([]string{fmt.Sprintf("%s: the template reads the time with now: later, its content may differ", file)})
	}
	var errs []error
	for _, random := range rendered.Random {
		isPart := slices.ContainsFunc(objects, func(object manifest.Object) bool {
			return object.Path == random.File && chart.Title(&object) == random.Object
		})
		switch {
		case !isPart: // a hook
		case random.IsNote():
			o.report([]string{random.String() + " is random: each rendering has another value, so the next one differs from the index"})
		default:
			errs = append(errs, fmt.Errorf("%s is random: each rendering has another value, and the index would have it in clear text, "+
				"the same for all hubs", random))
		}
	}
	if errs != nil {
		errs = append(errs, errors.New("nothing was added: let the add-on generate the value, or, unless it is a secret, name it: "+
			"helm template CHART --set NAME=VALUE | kubectl addon index build -"))
	}
	return errors.Join(errs...)
}
