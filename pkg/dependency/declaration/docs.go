package declaration

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/interlock/pkg/text"
)

const maxDocs = 512

// docsForm has no brackets, quotes or blanks: the link stands in a message and on a
// terminal. It has no user either, by which a link can look like one to another host.
var docsForm = regexp.MustCompile(`^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][A-Za-z0-9._~:/?#@!$&'*+,;=%-]*)?$`)

// validateDocs checks the link to a page that explains an edge; empty: there is none.
func validateDocs(docs string, path *field.Path) field.ErrorList {
	if docs == "" || len(docs) <= maxDocs && docsForm.MatchString(docs) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text.Excerpt(docs),
		fmt.Sprintf(`must be a link of at most %d characters, such as "https://example.com/addons/gateway#needs"`, maxDocs))}
}
