package declaration

import (
	"reflect"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// prunedFrom reports whether b is a, or a without some properties.
func prunedFrom(b, a any) bool {
	switch b := b.(type) {
	case map[string]any:
		a, ok := a.(map[string]any)
		for name, value := range b {
			whole, has := a[name]
			ok = ok && has && prunedFrom(value, whole)
		}
		return ok
	case []any:
		a, ok := a.([]any)
		ok = ok && len(a) == len(b)
		for i := 0; ok && i < len(b); i++ {
			ok = prunedFrom(b[i], a[i])
		}
		return ok
	default:
		return reflect.DeepEqual(a, b)
	}
}

// merge returns now with the properties of the record that its writer could not see,
// because before, from which the writer started, does not have them.
func merge(before, now, recorded map[string]any) map[string]any {
	merged := make(map[string]any, len(now))
	for name, value := range now {
		merged[name] = mergeValue(before[name], value, recorded[name])
	}
	for name, value := range recorded {
		_, visible := before[name]
		if _, has := now[name]; !has && !visible {
			merged[name] = value
		}
	}
	return merged
}

func mergeValue(before, now, recorded any) any {
	switch now := now.(type) {
	case map[string]any:
		before, _ := before.(map[string]any)
		recorded, _ := recorded.(map[string]any)
		return merge(before, now, recorded)
	case []any:
		before, _ := before.([]any)
		recorded, _ := recorded.([]any)
		return mergeList(before, now, recorded)
	default:
		return now
	}
}

// mergeList merges each element with what it was before. The elements of before and of
// the record are the same and in the same order, unless one of the two lacks the list.
func mergeList(before, now, recorded []any) []any {
	known := before
	if len(known) == 0 {
		known = recorded
	}
	places := map[string][]int{}
	for i, element := range known {
		places[identityOf(element)] = append(places[identityOf(element)], i)
	}
	merged := make([]any, len(now))
	for i, element := range now {
		identity, place := identityOf(element), -1
		if same := places[identity]; len(same) > 0 {
			place, places[identity] = same[0], same[1:]
		}
		merged[i] = mergeValue(at(before, place), element, at(recorded, place))
	}
	return merged
}

func at(list []any, place int) any {
	if place < 0 || place >= len(list) {
		return nil
	}
	return list[place]
}

// identityOf returns what an element keeps while its other properties change: the name
// of an edge, the add-on or API of an alternative, group, version and kind of an API, or key
// and operator of a requirement on labels.
func identityOf(element any) string {
	object, _ := element.(map[string]any)
	if name, named := object["name"].(string); named {
		return name
	}
	if addOn, names := object["addOn"].(string); names {
		return addOn
	}
	if api, isOn := object["api"].(map[string]any); isOn {
		return identityOf(api)
	}
	var parts []string
	for _, property := range []string{"group", "version", "kind", "key", "operator"} {
		part, _ := object[property].(string)
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

// declaresNothing reports whether all fields are empty.
func declaresNothing(fields map[string]any) bool {
	for _, value := range fields {
		switch value := value.(type) {
		case []any:
			if len(value) == 0 {
				continue
			}
		case map[string]any:
			if len(value) == 0 {
				continue
			}
		case string: // the default of ordering
			if value == string(addonv1alpha1.OrderingNone) {
				continue
			}
		}
		return false
	}
	return true
}
