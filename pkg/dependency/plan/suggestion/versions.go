package suggestion

import (
	"cmp"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// Evidence is the image that an object of the hub deploys for an add-on that reports no version.
type Evidence struct {
	AddOn string
	// Template is the AddOnTemplate with the image. It is empty for an image in ManifestWorks.
	Template string
	// Image is empty if no image was found. Reason then has the explanation.
	Image, Reason string
	// Clusters has the managed clusters that run the image.
	Clusters []string
}

// Version is a version that an add-on could report, or the reason why its images have no version.
type Version struct {
	AddOn string `json:"addOn"`
	// Version is empty if the images have no version.
	Version string `json:"version,omitempty"`
	// CannotTell is the reason why there is no version.
	CannotTell string `json:"cannotTell,omitempty"`
	// Template is the AddOnTemplate that deploys the images. It is empty if ManifestWorks do.
	Template string `json:"template,omitempty"`
	// OnRegistration is true if the command sets the version on the ClusterManagementAddOn, because most clusters run it.
	OnRegistration bool `json:"onClusterManagementAddOn,omitempty"`
	// Images has the images of the first container, ascending.
	Images []string `json:"images,omitempty"`
	// Clusters run these images, ascending.
	Clusters []string `json:"clusters"`
	// Commands set the version, on as few objects as possible.
	Commands []string `json:"commands,omitempty"`
}

// Versions returns the versions in the tags of images, by add-on. The versions of most clusters come first. wholeFleet means that
// the evidence is from all managed clusters. Otherwise no version is suggested for the ClusterManagementAddOn.
func Versions(evidence []Evidence, wholeFleet bool) []Version {
	type key struct{ addOn, template, version, reason string }
	byKey := map[key]*Version{}
	for i := range evidence {
		deployed := &evidence[i]
		version, reason := "", deployed.Reason
		if reason == "" {
			version, reason = versions.OfImage(deployed.Image)
		}
		k := key{deployed.AddOn, deployed.Template, version, reason}
		if byKey[k] == nil {
			byKey[k] = &Version{AddOn: k.addOn, Version: version, CannotTell: reason, Template: k.template, Clusters: []string{}}
		}
		if deployed.Image != "" {
			byKey[k].Images = append(byKey[k].Images, deployed.Image)
		}
		byKey[k].Clusters = append(byKey[k].Clusters, deployed.Clusters...)
	}
	suggested := make([]Version, 0, len(byKey))
	for _, version := range byKey {
		slices.Sort(version.Clusters)
		slices.Sort(version.Images)
		version.Images = slices.Compact(version.Images)
		suggested = append(suggested, *version)
	}
	slices.SortFunc(suggested, compareVersions)
	addCommands(suggested, wholeFleet)
	return suggested
}

func compareVersions(a, b Version) int {
	return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(len(b.Clusters), len(a.Clusters)), cmp.Compare(a.Template, b.Template),
		cmp.Compare(a.Version, b.Version), cmp.Compare(a.CannotTell, b.CannotTell))
}

// addCommands adds the commands that set the versions. A version from an AddOnTemplate is set on the template. Without a template,
// the version of most clusters is set on the ClusterManagementAddOn, and all others on ManagedClusterAddOns. If the version on any
// cluster is unknown, all are set on ManagedClusterAddOns: a version on the ClusterManagementAddOn would apply to that cluster too.
func addCommands(suggested []Version, wholeFleet bool) {
	// onRegistration is true if the next version of an add-on can be set on its ClusterManagementAddOn.
	onRegistration := map[string]bool{}
	for i := range suggested {
		if version := &suggested[i]; version.Template == "" {
			earlier, ok := onRegistration[version.AddOn]
			onRegistration[version.AddOn] = wholeFleet && version.Version != "" && (earlier || !ok)
		}
	}
	for i := range suggested {
		version := &suggested[i]
		switch {
		case version.Version == "":
		case version.Template != "":
			version.Commands = []string{versions.AnnotateCommand("addontemplate", version.Template, version.Version)}
		case onRegistration[version.AddOn]: // the first version of an add-on is the version of most clusters
			onRegistration[version.AddOn], version.OnRegistration = false, true
			version.Commands = []string{versions.AnnotateCommand("clustermanagementaddon", version.AddOn, version.Version)}
		default:
			for _, cluster := range version.Clusters {
				version.Commands = append(version.Commands, versions.AnnotateOnCluster(cluster, version.AddOn, version.Version))
			}
		}
	}
}
