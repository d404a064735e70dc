/// Named values for a query or a body. They can be nested.
///
/// ```swift
/// let parameters: FormParameters = ["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil]
/// try FormEncoding.standard.query(parameters)     // all&page=2&role=admin&tags[]=a&tags[]=b
/// try JSONEncoder().encode(parameters)            // {"all":null,"page":2,"role":"admin","tags":["a","b"]}
/// ```
///
/// The values of a literal can be literals and variables of any ``FormParameterValue`` types. A nested literal needs an
/// explicit type if it is empty or if its elements have different types: `["x", 1] as FormValue`. Use ``init(_:)`` for
/// dictionaries and ``init(encoding:)`` for models.
///
/// Names have no order, so equal parameters produce equal queries. Use ``QueryItems`` if the order matters or names
/// repeat.
public struct FormParameters: Sendable, Hashable {
    /// The values by name.
    public var values: [String: FormValue]

    /// The maximum depth of values. Deeper values fail with `encoding`.
    public static let maximumDepth = 64

    /// Creates empty parameters.
    public init() { values = [:] }

    init(values: [String: FormValue]) { self.values = values }

    /// Creates parameters from a dictionary, such as a `[String: String]` or a `[String: Date?]`. A value that is `nil`
    /// becomes ``FormValue/null``.
    public init(_ values: [String: (any FormParameterValue)?]) { self.values = values.mapValues(FormValue.init) }

    /// Creates parameters from the properties of a model.
    ///
    /// Dates and data keep their types, so that the encoding chooses their format. Sets become ``FormValue/set(_:)``.
    /// URLs, and `Decimal`s that have no exact `Double`, become text. A property that is `nil` is omitted, unless the
    /// model encodes it explicitly.
    ///
    /// - Throws: `encoding` if the model is not a collection of named values, or is nested more than ``maximumDepth``
    ///   levels.
    public init(encoding model: some Encodable) throws(RequestFailure) {
        if let parameters = model as? FormParameters {
            self = parameters
            return
        }
        let value: FormValue
        do {
            value = try ValueEncoder.value(of: model, path: [])
        } catch {
            throw CodingFault.encoding(error, type(of: model), as: "parameters")
        }
        guard case .dictionary(let values) = value else {
            throw RequestFailure(
                .encoding, "\(type(of: model)) has no names, so it cannot be encoded as parameters.",
                remedy: "Use a structure or a dictionary.")
        }
        self.values = values
    }

    /// Whether there are no parameters.
    public var isEmpty: Bool { values.isEmpty }

    /// The value for a name. Setting `nil`, or an optional that is `nil`, removes the name.
    public subscript(name: String) -> (any FormParameterValue)? {
        get { values[name] }
        set { values[name] = newValue?.formValue }
    }

    /// Both sets of parameters. For a name that is in both, the value in `other` replaces the whole value.
    public func merging(_ other: FormParameters) -> FormParameters {
        FormParameters(values: values.merging(other.values) { _, other in other })
    }
}

extension FormParameters: ExpressibleByDictionaryLiteral {
    /// Creates parameters from a literal. If a name occurs twice, the last value is used. A value that is `nil` becomes
    /// ``FormValue/null``.
    public init(dictionaryLiteral elements: (String, (any FormParameterValue)?)...) {
        self.init(values: FormValue.named(elements))
    }
}
