/// Compiles only if both names mean the same type.
func isSame<Type: ~Copyable>(_ one: Type.Type, _ other: Type.Type) {}
