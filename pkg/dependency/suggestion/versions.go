package suggestion

import (
	"cmp"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Evidence is the image that an object of the hub deploys for an add-on of which no version is known.
type Evidence struct {
	AddOn string
	// Template is the AddOnTemplate that has the image; empty: ManifestWorks have it.
	Template string
	// Image is empty where none was found; Reason says why.
	Image, Reason string
	// Clusters are the managed clusters that it is deployed on.
	Clusters []string
}

// Version is a version that an add-on could report, or why none can be told.
type Version struct {
	AddOn string `json:"addOn"`
	// Version is empty where it cannot be told.
	Version string `json:"version,omitempty"`
	// CannotTell is why there is no version.
	CannotTell string `json:"cannotTell,omitempty"`
	// Template is the AddOnTemplate that deploys the images; empty: none does.
	Template string `json:"template,omitempty"`
	// OnRegistration: the version is for the ClusterManagementAddOn, because most clusters run it.
	OnRegistration bool `json:"onClusterManagementAddOn,omitempty"`
	// Images are those of the first container, ascending.
	Images []string `json:"images,omitempty"`
	// Clusters run these images, ascending.
	Clusters []string `json:"clusters"`
	// Commands set the version, on as few objects as suffice.
	Commands []string `json:"commands,omitempty"`
}

// Versions returns what the images say, by add-on, and those first that most clusters run. wholeFleet is whether the evidence
// is from all managed clusters: only then a version can be that of the ClusterManagementAddOn.
func Versions(all []Evidence, wholeFleet bool) []Version {
	type key struct{ addOn, template, version, reason string }
	found := map[key]*Version{}
	for i := range all {
		evidence := &all[i]
		version, reason := "", evidence.Reason
		if reason == "" {
			version, reason = versions.OfImage(evidence.Image)
		}
		same := key{evidence.AddOn, evidence.Template, version, reason}
		if found[same] == nil {
			found[same] = &Version{AddOn: same.addOn, Version: version, CannotTell: reason, Template: same.template, Clusters: []string{}}
		}
		if evidence.Image != "" {
			found[same].Images = append(found[same].Images, evidence.Image)
		}
		found[same].Clusters = append(found[same].Clusters, evidence.Clusters...)
	}
	suggested := make([]Version, 0, len(found))
	for _, version := range found {
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

// addCommands sets the commands: on the AddOnTemplate that deploys the image, else on the ClusterManagementAddOn for the version
// that most clusters run, and on the ManagedClusterAddOns of the others. Where some cluster's version cannot be told, the
// ClusterManagementAddOn would claim one for it, so each ManagedClusterAddOn gets its own.
func addCommands(suggested []Version, wholeFleet bool) {
	onRegistration := map[string]bool{} // whether the next version of an add-on can be that of its registration
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
		case onRegistration[version.AddOn]: // the first of an add-on runs on most clusters
			onRegistration[version.AddOn], version.OnRegistration = false, true
			version.Commands = []string{versions.AnnotateCommand("clustermanagementaddon", version.AddOn, version.Version)}
		default:
			for _, cluster := range version.Clusters {
				version.Commands = append(version.Commands, versions.AnnotateOnCluster(cluster, version.AddOn, version.Version))
			}
		}
	}
}
