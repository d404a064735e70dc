import EssentialsHTTP

/// Compares header fields.
enum FieldRules {
    /// Each expected field that is missing, as one line. Further fields are allowed.
    static func differences(of fields: HTTPFields, expected: HTTPFields) -> [String] {
        expected.compactMap { field in
            let values = fields[values: field.name]
            if values.contains(field.value) { return nil }
            let wanted = "header \(field.name.rawName): expected \(ShownText.value(field.value, of: field.name))"
            if values.isEmpty { return wanted + ", there is none" }
            return wanted + ", was " + values.map { ShownText.value($0, of: field.name) }.joined(separator: ", ")
        }
    }
}
