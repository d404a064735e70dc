/// A media type with its parameters, as in `Content-Type` (RFC 9110, 8.3.1).
///
/// ```swift
/// let type = try MediaType("Application/Problem+JSON; Charset=\"utf-8\"")
/// type.essence                  // "application/problem+json"
/// type.suffix                   // "json"
/// type.charset                  // "utf-8"
/// ```
///
/// The type, the subtype and parameter names are stored in lower case. Two media types are equal if their parameters
/// are equal in any order. The value of `charset` is compared without case.
public struct MediaType: Sendable {
    /// A parameter of a media type.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value as it was written, without quotation marks.
        public let value: String
    }

    /// The part before the slash, in lower case.
    public let type: String
    /// The part after the slash, in lower case.
    public let subtype: String
    /// The parameters in order. Names are unique.
    public let parameters: [Parameter]

    /// The maximum number of parameters. More are an error in ``init(_:)`` and are ignored in ``init(parsing:)``.
    public static let maximumParameters = 32

    /// Parses a media type that the program chose.
    ///
    /// - Throws: `invalidRequest` if the text is not a media type: it has no slash, it has an invalid character or an
    ///   asterisk (use a ``MediaPattern`` for that), a parameter has no value, or a name occurs twice.
    public init(_ text: String) throws(RequestFailure) {
        do {
            self = try MediaTypeReader.read(text, isStrict: true)
        } catch {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is not a media type: \(error.text).",
                remedy: "Write type/subtype, with parameters as in “text/plain; charset=utf-8”.")
        }
    }

    /// Parses a media type that a peer sent; `nil` without a type and a subtype.
    ///
    /// Malformed parameters are ignored. If a name occurs twice, the first value is used.
    public init?(parsing text: some StringProtocol) {
        guard let read = try? MediaTypeReader.read(text, isStrict: false) else { return nil }
        self = read
    }

    init(type: String, subtype: String, parameters: [Parameter] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// The type and the subtype, as in `text/plain`.
    public var essence: String {
        // A literal costs nothing, whereas the joined text is allocated.
        if subtype == "json", type == "application" { return "application/json" }
        return type + "/" + subtype
    }

    /// The part of the subtype after the last `+`, such as `json` in `application/problem+json` (RFC 6838, 4.2.8);
    /// `nil` without a suffix.
    public var suffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        let suffix = subtype[subtype.utf8.index(after: plus)...]
        return suffix.isEmpty ? nil : String(suffix)
    }

    /// The value of the parameter `charset`, as it was written.
    public var charset: String? { parameter("charset") }

    /// The value of a parameter. The case of its name is ignored.
    public func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// A copy in which one parameter is replaced, added at the end, or removed if the value is `nil`.
    ///
    /// - Throws: `invalidRequest` if the name is not a token (RFC 9110, 5.6.2), if the value has a control character,
    ///   or if there would be more than ``maximumParameters``.
    public func settingParameter(_ name: String, to value: String?) throws(RequestFailure) -> MediaType {
        guard MediaTypeReader.isToken(name.utf8) else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(name))” is not a valid parameter name of a media type.",
                remedy: "Use letters, digits and hyphens.")
        }
        if let value, !value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }) {
            throw RequestFailure(
                .invalidRequest, "The value of the parameter “\(name)” contains a control character.",
                remedy: "Remove line breaks and other control characters.")
        }
        let result = setting(name.lowercased(), to: value)
        guard result.parameters.count <= max(Self.maximumParameters, parameters.count) else {
            throw RequestFailure(
                .invalidRequest, "A media type has at most \(Self.maximumParameters) parameters.",
                remedy: "Remove a parameter first.")
        }
        return result
    }

    /// The essence for a message, made safe to show because a peer may have chosen it.
    var shown: String { RequestFailure.shown(essence) }

    /// As ``settingParameter(_:to:)``, without checks, for names and values that are known to be valid.
    func setting(_ name: String, to value: String?) -> MediaType {
        var changed = parameters
        let index = changed.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?): changed[index] = Parameter(name: name, value: value)
        case (let index?, nil): changed.remove(at: index)
        case (nil, let value?): changed.append(Parameter(name: name, value: value))
        case (nil, nil): break
        }
        return MediaType(type: type, subtype: subtype, parameters: changed)
    }

    /// The media type with `charset=utf-8`, unless it already has a charset.
    var withDefaultCharset: MediaType { charset == nil ? setting("charset", to: "utf-8") : self }
}

extension MediaType: Hashable {
    /// Whether both are the same type with the same parameters, in any order.
    public static func == (one: MediaType, other: MediaType) -> Bool {
        one.type == other.type && one.subtype == other.subtype && one.comparable == other.comparable
    }

    /// Hashes the components that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
        hasher.combine(comparable)
    }

    private var comparable: Set<Parameter> {
        Set(parameters.map { $0.name == "charset" ? Parameter(name: $0.name, value: $0.value.lowercased()) : $0 })
    }
}

extension MediaType: CustomStringConvertible {
    /// The media type as written in a header field. Values that are not tokens are quoted.
    public var description: String {
        guard !parameters.isEmpty else { return essence }
        return parameters.reduce(into: essence) { text, parameter in
            text += "; \(parameter.name)="
            if MediaTypeReader.isToken(parameter.value.utf8) {
                text += parameter.value
            } else {
                text += MultipartHeadRules.quoted(parameter.value)
            }
        }
    }
}

extension MediaType {
    /// `application/json`.
    public static let json = MediaType(type: "application", subtype: "json")
    /// `application/x-www-form-urlencoded`.
    public static let form = MediaType(type: "application", subtype: "x-www-form-urlencoded")
    /// `text/plain`.
    public static let text = MediaType(type: "text", subtype: "plain")
    /// `text/html`.
    public static let html = MediaType(type: "text", subtype: "html")
    /// `application/octet-stream`.
    public static let octetStream = MediaType(type: "application", subtype: "octet-stream")
    /// `multipart/form-data`, without its boundary.
    public static let multipartFormData = MediaType(type: "multipart", subtype: "form-data")
}
