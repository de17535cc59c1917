package declaration

import "reflect"

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
		merged := make([]any, len(now))
		before, recorded := byName(before), byName(recorded)
		for i, value := range now {
			name := nameOf(value)
			merged[i] = mergeValue(before[name], value, recorded[name])
		}
		return merged
	default:
		return now
	}
}

// byName returns the elements of a list that have a name.
func byName(list any) map[string]any {
	elements, _ := list.([]any)
	named := make(map[string]any, len(elements))
	for _, element := range elements {
		if name := nameOf(element); name != "" {
			named[name] = element
		}
	}
	return named
}

func nameOf(element any) string {
	object, _ := element.(map[string]any)
	name, _ := object["name"].(string)
	return name
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
		}
		return false
	}
	return true
}
