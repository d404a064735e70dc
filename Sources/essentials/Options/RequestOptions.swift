import ArgumentParser
import ServiceEssentials

/// Where a request goes and what its head says.
struct RequestOptions: ParsableArguments {
    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Option(
        name: .customLong("header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field; repeatable.", valueName: "'name: value'"), transform: NamedText.header)
    var headers: [NamedText] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A query item, percent-encoded for you; repeatable.", valueName: "name=value"),
        transform: NamedText.queryItem)
    var query: [NamedText] = []

    /// The URL with its query.
    func target() throws(RequestFailure) -> RequestURL {
        query.reduce(try RequestURL(url)) { $0.appending(query: $1.name, value: $1.value) }
    }

    func headerFields() throws(RequestFailure) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers { fields.append(try HTTPField.checked(name: header.name, value: header.value)) }
        return fields
    }
}
