public import EssentialsRequests
public import Foundation

extension ConstantEnvironment {
    /// Creates an environment from Foundation's URL.
    ///
    /// - Throws: `invalidRequest` if the URL is not valid.
    public init(
        _ baseURL: URL, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(
            EnvironmentSnapshot(
                name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust))
    }
}

extension EnvironmentSnapshot {
    /// Creates a snapshot from Foundation's URL.
    ///
    /// - Throws: `invalidRequest` if the URL is not valid.
    public init(
        name: String = "", baseURL: URL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust)
    }
}
