// The examples of documentation comments, which are compiled and not run. `.ci/check-examples` finds each block of Swift
// code in one of these files or in another test.

/// Stands for whatever an example presupposes.
func given<Value>(_ type: Value.Type = Value.self) -> Value {
    preconditionFailure("The examples are compiled, not run.")
}

/// Stands for a thing of the application that an example mentions: any function, and an object with any member.
@dynamicCallable @dynamicMemberLookup
struct Application: Sendable {
    subscript(dynamicMember name: String) -> Application {
        get { self }
        nonmutating set {}
    }

    subscript<Value>(dynamicMember name: String) -> Value {
        get { given() }
        nonmutating set {}
    }

    @discardableResult
    func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, Any?>) -> Application { self }
}

/// Makes a list of expressions, so that the values of an example count as used.
@resultBuilder
enum Listed {
    static func buildBlock(_ values: Any...) -> [Any] { values }
    static func buildExpression(_ value: Any?) -> Any { value as Any }
    static func buildOptional(_ values: [Any]?) -> Any { values ?? [] }
    static func buildEither(first values: [Any]) -> Any { values }
    static func buildEither(second values: [Any]) -> Any { values }
    static func buildArray(_ values: [[Any]]) -> Any { values }
}

/// Uses variables that an example only declares.
func use(_ values: Any?...) {}
