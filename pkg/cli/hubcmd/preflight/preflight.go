// Package preflight decides whether Interlock can be installed on a hub, or upgraded there, before anything is written.
package preflight

import (
	"fmt"

	"helm.sh/helm/v4/pkg/chart/v2/util"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// Facts are the inputs of the checks.
type Facts struct {
	// Upgrade is whether the command is an upgrade.
	Upgrade   bool
	Namespace string
	// Version is the version to install. KubernetesRange has the versions of Kubernetes that it needs.
	Version, KubernetesRange string
	// Kubernetes is the version of the hub's API server.
	Kubernetes string
	OCM        OCM
	// Record describes the current installation. It is nil if there is none.
	Record         *hubrecord.Record
	AllowDowngrade bool
	Plan           *applyset.Plan
	// Denied are rights that the user lacks in the namespace, where it does not exist yet.
	Denied []string
	// Registry is where images are to be pushed to. PushErr is the error of an attempt, and PushDenied whether credentials are missing.
	// Without a registry, Images are the images that the pods need.
	Registry   string
	PushErr    error
	PushDenied bool
	// Unbuilt is whether the images to push do not exist yet.
	Unbuilt bool
	Images  []ImageState
	// Placement selects the clusters for addon-agent. It is nil if addon-agent is not to be installed.
	Placement *Placement
}

// OCM is Open Cluster Management on the hub.
type OCM struct {
	Installed bool
	// Version is empty if OCM does not report it.
	Version string
}

// ImageState is whether an image is in its registry.
type ImageState struct {
	Reference string
	Exists    bool
	// Err is the error that left this unknown.
	Err error
}

// Placement is the Placement that selects the clusters for addon-agent.
type Placement struct {
	Name   string
	Exists bool
	// Creatable is whether the command creates the Placement if it does not exist.
	Creatable bool
}

// Checks of a preflight, by the names in their results.
const (
	checkKubernetes   = "kubernetes"
	checkOCM          = "open-cluster-management"
	checkInstallation = "installation"
	checkOwnership    = "ownership"
	checkRights       = "rights"
	checkObjects      = "objects"
	checkRegistry     = "registry"
	checkImages       = "images"
	checkPlacement    = "placement"
)

// page is the part of the documentation about this verb.
const page = "docs/install.md#with-the-plugin"

// Check makes all checks.
func Check(facts *Facts) *report.Diagnosis {
	diagnosis := report.NewDiagnosis()
	for _, check := range []struct {
		name string
		run  func(*Facts) []result
	}{
		{checkKubernetes, kubernetes},
		{checkOCM, openClusterManagement},
		{checkInstallation, installation},
		{checkOwnership, ownership},
		{checkRights, rights},
		{checkObjects, objects},
		{checkRegistry, registry},
		{checkImages, images},
		{checkPlacement, placement},
	} {
		for _, result := range check.run(facts) {
			diagnosis.Items = append(diagnosis.Items, report.CheckResult{
				Check: check.name, Status: result.status, Message: text.OneLine(result.message), Repair: result.repair,
			})
		}
	}
	return diagnosis
}

// result is a result of a check.
type result struct {
	status report.CheckStatus
	// message describes the hub, and names the object.
	message string
	// repair is a command, or a page of the documentation.
	repair string
}

func passed(format string, args ...any) []result {
	return []result{{report.CheckPassed, fmt.Sprintf(format, args...), ""}}
}

func failed(repair, format string, args ...any) result {
	return result{report.CheckFailed, fmt.Sprintf(format, args...), repair}
}

func kubernetes(f *Facts) []result {
	if f.KubernetesRange != "" && !util.IsCompatibleRange(f.KubernetesRange, f.Kubernetes) {
		return []result{failed("docs/compatibility.md", "The hub has Kubernetes %s, and Interlock %s needs %s", f.Kubernetes, f.Version, f.KubernetesRange)}
	}
	return passed("Kubernetes %s", f.Kubernetes)
}

func registry(f *Facts) []result {
	switch {
	case f.Registry == "":
		return nil
	case f.PushDenied:
		return []result{failed("docker login "+host(f.Registry), "You may not push to %s: %v", f.Registry, f.PushErr)}
	case f.PushErr != nil:
		return []result{failed(fmt.Sprintf("curl -i https://%s/v2/", host(f.Registry)), "You cannot push to %s: %v", f.Registry, f.PushErr)}
	default:
		return passed("You may push to %s", f.Registry)
	}
}

func images(f *Facts) []result {
	var results []result
	for _, image := range f.Images {
		switch {
		case image.Err != nil:
			results = append(results, result{
				report.CheckUnknown, fmt.Sprintf("It is not known whether there is an image %s: %v", image.Reference, image.Err), page,
			})
		case !image.Exists:
			results = append(results, failed(f.command()+" RELEASE --registry "+f.usualRegistry(), "There is no image %s", image.Reference))
		}
	}
	if f.Unbuilt {
		return []result{{report.CheckNote, "The images are not built yet, so their versions are not checked", "make images"}}
	}
	if len(results) == 0 && len(f.Images) > 0 {
		return passed("The images are in their registry, such as %s", f.Images[0].Reference)
	}
	return results
}

// usualRegistry returns the registry that the images of the installation were pushed to.
func (f *Facts) usualRegistry() string {
	if f.Record == nil || f.Record.Registry == "" {
		return "REGISTRY"
	}
	return f.Record.Registry
}

func placement(f *Facts) []result {
	switch p := f.Placement; {
	case p == nil:
		return nil
	case p.Exists:
		return passed("The Placement %s selects the clusters for addon-agent", p.Name)
	case p.Creatable:
		return []result{{report.CheckNote, "The Placement " + p.Name + " does not exist. It is created, and selects all managed clusters for addon-agent", ""}}
	default:
		return []result{failed("kubectl get placements -A",
			"The Placement %s of agent.placement does not exist, so OCM would install addon-agent on no cluster", p.Name)}
	}
}

// command returns the command that is being checked.
func (f *Facts) command() string {
	verb := "install"
	if f.Upgrade {
		verb = "upgrade"
	}
	return "kubectl addon hub " + verb + Elsewhere(f.Namespace)
}
