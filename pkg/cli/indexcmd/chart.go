package indexcmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/chart"
	"open-cluster-management.io/interlock/pkg/offline/index"
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
	objects := o.withoutHooks(rendered.Objects)
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
	versions := map[string]string{}
	for _, object := range objects {
		versions[object.GetName()] = rendered.Version
	}
	maps.Copy(versions, o.versions)
	return index.Build(objects, cmp.Or(o.origin, "chart "+rendered.Name+" "+rendered.Version), versions)
}
