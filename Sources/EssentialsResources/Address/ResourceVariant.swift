public import EssentialsHTTP

/// Selects one of several representations at a URL by header fields (RFC 9110, 12.5).
///
/// Header fields are not part of a resource's identity. If a server sends different representations depending on a
/// field, name the field and its value as a variant. Each variant is a resource with its own content, and its loads
/// send the field.
///
/// ```swift
/// let table: Resource<Data> = service.resource("report", variant: .accept("text/csv"))
/// let german: Resource<Data> = service.resource(
///     "report", variant: [.accept("text/csv"), .acceptLanguage("de")])
/// ```
///
/// The order of the fields does not matter. Values are compared as they are written.
public struct ResourceVariant: Sendable, Hashable {
    /// A field in the form that is used for comparison.
    private struct Field: Hashable, Comparable {
        let name: String
        let value: String

        static func < (one: Field, other: Field) -> Bool {
            one.name == other.name ? one.value < other.value : one.name < other.name
        }
    }

    /// The representation that the server sends without further fields.
    public static let standard = ResourceVariant([])

    /// The fields, sorted and without repetitions.
    private let fields: [Field]

    /// Creates a variant that has all fields of several variants.
    public init(_ variants: [ResourceVariant]) { fields = Set(variants.flatMap(\.fields)).sorted() }

    private init(_ field: Field) { fields = [field] }

    /// The variant that a field selects.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - value: The value. White space around it is ignored.
    public static func field(_ name: HTTPField.Name, _ value: String) -> ResourceVariant {
        // The initializer of a field removes the white space.
        ResourceVariant(Field(name: name.canonicalName, value: HTTPField(name: name, value: value).value))
    }

    /// The variant with a media type (RFC 9110, 12.5.1), such as `text/csv`.
    public static func accept(_ mediaType: String) -> ResourceVariant { field(.accept, mediaType) }

    /// The variant in a language (RFC 9110, 12.5.4), such as `de`.
    public static func acceptLanguage(_ language: String) -> ResourceVariant { field(.acceptLanguage, language) }

    /// Whether this is the representation without further fields.
    public var isStandard: Bool { fields.isEmpty }

    /// The fields that loads send, sorted by name.
    public var headerFields: HTTPFields {
        var result = HTTPFields()
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            result.append(HTTPField(name: name, value: field.value))
        }
        return result
    }
}

extension ResourceVariant: ExpressibleByArrayLiteral {
    /// Creates a variant from several ones.
    public init(arrayLiteral variants: ResourceVariant...) { self.init(variants) }
}

extension ResourceVariant: CustomStringConvertible {
    /// The fields for logs. Values of fields other than the standard ones of content negotiation are hidden, because
    /// they may be secret.
    public var description: String {
        guard !isStandard else { return "standard" }
        return fields.map { field in
            let isShown = ["accept", "accept-language"].contains(field.name)
            return "\(field.name): \(isShown ? field.value : "…")"
        }.joined(separator: ", ")
    }
}
