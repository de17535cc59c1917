package conversion

// places are two versions' shapes of the same place of an object.
type places struct {
	from, to *shape
	// renamed are the fields whose name alone differs, by the name in from.
	renamed map[string]string
}

// carry completes target, which OCM's functions made of source:
//
//   - It copies fields that the types of neither version know. Where the other
//     version uses the name for another field, the field is dropped, as OCM does.
//   - It removes empty values that Go writes for fields that source lacks.
//     Server-side apply would count them as owned, and a null may be invalid.
func (p places) carry(source, target any) {
	switch source := source.(type) {
	case map[string]any:
		if target, ok := target.(map[string]any); ok && p.from.fields != nil && p.to.fields != nil {
			p.carryObject(source, target)
		}
	case []any:
		// OCM's functions keep the order and the length of lists.
		if target, ok := target.([]any); ok && p.from.element != nil && p.to.element != nil && len(source) == len(target) {
			elements := places{from: p.from.element, to: p.to.element}
			for i := range source {
				elements.carry(source[i], target[i])
			}
		}
	}
}

func (p places) carryObject(source, target map[string]any) {
	present := make(map[string]bool, len(source))
	for name, value := range source {
		from, known := p.from.fields[name]
		if other, differs := p.renamed[name]; differs {
			name = other
		}
		to, taken := p.to.fields[name]
		switch {
		case !known && !taken:
			target[name] = value
		case known && taken && value != nil:
			present[name] = true
			places{from: from, to: to}.carry(value, target[name])
		}
	}
	for name, value := range target {
		if _, known := p.to.fields[name]; known && !present[name] && isEmpty(value) {
			delete(target, name)
		}
	}
}

// isEmpty reports whether a value is what Go writes for a field that is not set.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case int64:
		return value == 0
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, field := range value {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	}
	return false
}
