/// The arguments of a resolve, for somebody who does not know their types. Valid for the length of the call.
struct ArgumentTuple {
    /// The type of the tuple.
    let type: Any.Type
    /// Where the tuple is.
    let memory: UnsafeRawPointer
    /// The types as errors show them.
    let names: () -> String

    static func names<each Argument>(_ types: repeat (each Argument).Type) -> String {
        var names: [String] = []
        for type in repeat each types { names.append(String(reflecting: type)) }
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }
}
