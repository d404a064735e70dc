import ArgumentParser
import ServiceEssentials

/// A command that is named after the method that it sends.
protocol NamedMethodCommand: RequestCommand {
    static var method: HTTPRequest.Method { get }
}

extension NamedMethodCommand {
    var method: HTTPRequest.Method { Self.method }

    /// A description with what every such command's help ends with.
    static func describe(_ abstract: String, _ examples: String) -> CommandConfiguration {
        describe(method.rawValue.lowercased(), abstract, examples)
    }
}
