// Package docs tests that pages agree with the code, for example that reference.md has all visible names.
package docs

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/consoleserver/viewers"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/ondemand"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/hub/setup/webhookca"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/names"
)

func TestReferenceNamesEverythingVisible(t *testing.T) {
	page, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	visible := []string{
		addonv1alpha1.DependenciesAnnotation, addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation,
		addonv1alpha1.TemplateVersionLabel, addonv1alpha1.InstalledByLabel, addonv1alpha1.InstalledByPlugin,
		names.OCMVersion, status.EventContested, status.EventStuck,
		crdgraft.RecordAnnotation, crdgraft.RemovalsAnnotation, graft.MarkAnnotation, names.OfflinePolicy, names.LifecycleLeader,
		addonv1alpha1.RecordAnnotation, records.EventRestored, records.EventRemoved,
		facts.EventNotServed, webhookca.EventRefused,
		ondemand.EventInstalls, approval.EventInstallation, ondemand.EventGivenUp,
		policies.EventWaived, policies.EventWaiverEnded, policies.EventInvalid, policies.EventConflicting,
		dependencyv1alpha1.PolicyAccepted, dependencyv1alpha1.PolicyConflicting, dependencyv1alpha1.ReasonAccepted,
		dependencyv1alpha1.ReasonInvalid, dependencyv1alpha1.ReasonNoConflict, dependencyv1alpha1.ReasonStricterCounts,
		dependencyv1alpha1.AggregateToCountLabel,
	}
	for _, reason := range dependencyv1alpha1.FactReasons {
		visible = append(visible, string(reason))
	}
	visible = append(visible, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed, addonv1alpha1.GateOpen,
		gate.ConditionInstallable, gate.ConditionUpgradable, status.EventOpened,
		addonv1alpha1.UpgradeAnnotation, addonv1alpha1.BundleAnnotation, string(addonv1alpha1.OrderingInstallAndUpgrade))
	visible = append(visible, gate.UpgradeReasons...)
	visible = append(visible, bundle.Reasons...)
	visible = append(visible, condition.Reasons...)
	visible = append(visible, addonevents.Reasons...)
	for _, reason := range graft.Reasons {
		visible = append(visible, string(reason))
	}
	for _, verdict := range evaluation.Verdicts {
		visible = append(visible, string(verdict))
	}
	for _, problem := range declaration.ProblemReasons {
		visible = append(visible, string(problem))
	}
	for _, form := range installer.Forms {
		visible = append(visible, string(form))
	}
	for _, name := range visible {
		if !strings.Contains(string(page), name+"`") {
			t.Errorf("reference.md does not name `%s`", name)
		}
	}
	help := maps.Clone(metrics.Help)
	maps.Copy(help, agentmetrics.Help)
	help[installer.NameGuard], help[installer.NameGate] = installer.HelpGuard, installer.HelpGate
	help[metricsserver.NameBuildInfo] = metricsserver.HelpBuildInfo
	maps.Copy(help, graft.Help)
	maps.Copy(help, records.Help)
	maps.Copy(help, ondemand.Help)
	maps.Copy(help, viewers.Help)
	for name, help := range help {
		if !strings.Contains(string(page), "| `"+name+"` |") || !strings.Contains(string(page), help) {
			t.Errorf("reference.md does not tell of the metric %s: %s", name, help)
		}
	}
}

// The warning about objects links an existing section.
func TestTheWarningOfObjectsLinksASection(t *testing.T) {
	linked, home := strings.CutPrefix(protection.CountingPage, "https://github.com/open-cluster-management-io/interlock/blob/main/")
	page, section, _ := strings.Cut(linked, "#")
	if !home || !anchors(pages(t)[page])[section] {
		t.Errorf("%s is not a section of the documentation", protection.CountingPage)
	}
}

// describedLabels is a registry that only keeps the labels in descriptions of metrics.
type describedLabels struct {
	prometheus.Registerer
	labels map[string]string // by metric
}

var description = regexp.MustCompile(`^Desc\{fqName: "([^"]*)".*, constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

func (d describedLabels) Register(collector prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc, 1000)
	collector.Describe(descriptions)
	close(descriptions)
	for metric := range descriptions {
		match := description.FindStringSubmatch(metric.String())
		labels := slices.DeleteFunc(strings.Split(match[3], ","), func(label string) bool { return label == "" })
		for _, constant := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(match[2], -1) {
			labels = append(labels, constant[1])
		}
		slices.Sort(labels)
		d.labels[match[1]] = strings.Join(labels, " ")
	}
	return nil
}

func (d describedLabels) MustRegister(collectors ...prometheus.Collector) {
	for _, collector := range collectors {
		_ = d.Register(collector)
	}
}

// hack/alerts compares the labels in queries with the page.
func TestReferenceHasTheLabelsOfMetrics(t *testing.T) {
	ours := describedLabels{labels: map[string]string{}}
	metrics.New(ours)
	agentmetrics.New(ours)
	graft.NewMetrics(ours)
	installer.NewMetrics(ours)
	installer.NewGateMetrics(ours)
	records.New(nil, nil, ours)
	ondemand.NewMetrics(ours)
	viewers.NewMetrics(ours)
	viewers.RegisterGauges(ours, nil, nil)
	metricsserver.RegisterBuildInfo(ours, "x")
	registered := describedLabels{labels: maps.Clone(ours.labels)}
	registered.MustRegister(ctrlmetrics.Registry.(prometheus.Collector))

	_, section, _ := strings.Cut(read(t, "docs/reference.md"), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|((?: `[a-z_]+`,?)*) \\| ").FindAllStringSubmatch(section, -1)
	for _, row := range rows {
		labels, ok := registered.labels[row[1]]
		if !ok {
			t.Errorf("reference.md has %s, which no process has", row[1])
		}
		listed := strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(row[2]))
		slices.Sort(listed)
		if got := strings.Join(listed, " "); got != labels {
			t.Errorf("reference.md gives %s the labels %q, the code %q", row[1], got, labels)
		}
		delete(ours.labels, row[1])
	}
	if len(ours.labels) > 0 {
		t.Errorf("reference.md has no row of %v", ours.labels)
	}
}
