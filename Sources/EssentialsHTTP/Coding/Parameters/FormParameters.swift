/// Named values for a query or a body, nested as deep as needed.
///
/// ```swift
/// let parameters: FormParameters = ["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil]
/// try FormEncoding.standard.query(parameters)     // all&page=2&role=admin&tags[]=a&tags[]=b
/// try JSONEncoder().encode(parameters)            // {"all":null,"page":2,"role":"admin","tags":["a","b"]}
/// ```
///
/// The values of a literal are literals or variables of any ``FormParameterValue`` type, in any mixture. A nested literal
/// needs its type if it is empty or its elements have different types: `["x", 1] as FormValue`. Dictionaries are accepted
/// by ``init(_:)``, models by ``init(encoding:)``.
///
/// Names have no order, so that equal parameters give equal queries. Where order or names that repeat matter, use
/// ``QueryItems``.
public struct FormParameters: Sendable, Hashable {
    /// The values by name.
    public var values: [String: FormValue]

    /// How deep values may be nested to be written: more is the failure `encoding`.
    public static let maximumDepth = 64

    /// Makes empty parameters.
    public init() { values = [:] }

    init(values: [String: FormValue]) { self.values = values }

    /// Makes parameters from a dictionary, such as a `[String: String]` or a `[String: Date?]`. A value that is nil
    /// becomes ``FormValue/null``.
    public init(_ values: [String: (any FormParameterValue)?]) { self.values = values.mapValues(FormValue.init) }

    /// Makes parameters from the properties of a model.
    ///
    /// Dates and data keep their types, so that the encoding decides on their form; sets become ``FormValue/set(_:)``;
    /// URLs and `Decimal`s without an exact `Double` become text. A property that is nil is left out, unless the model
    /// encodes nil explicitly.
    ///
    /// - Throws: `encoding` when the model is no collection of named values, or is nested more than ``maximumDepth``
    ///   deep.
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
                .encoding, "\(type(of: model)) has no names, so it cannot be written as parameters.",
                remedy: "Use a structure or a dictionary.")
        }
        self.values = values
    }

    /// Whether there are none.
    @inlinable
    public var isEmpty: Bool { values.isEmpty }

    /// The value for a name. Setting nil, or an optional that is nil, removes the name.
    public subscript(name: String) -> (any FormParameterValue)? {
        get { values[name] }
        set { values[name] = newValue?.formValue }
    }

    /// These and the others; where both have a name, the other's value counts, whole.
    public func merging(_ other: FormParameters) -> FormParameters {
        FormParameters(values: values.merging(other.values) { _, other in other })
    }
}

extension FormParameters: ExpressibleByDictionaryLiteral {
    /// The last of equal names wins. A value that is nil becomes ``FormValue/null``.
    public init(dictionaryLiteral elements: (String, (any FormParameterValue)?)...) {
        self.init(values: FormValue.named(elements))
    }
}
