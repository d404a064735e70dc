package import EssentialsHTTP

/// The request for an event stream, and what its response has to be (WHATWG HTML, 9.2.3).
package enum EventStreamRules {
    /// Sets what each connection of a stream needs. The pauses between the connections are those of the stream.
    package static func configure(_ request: inout DataRequest, idleTimeout: Duration?) {
        // A server says 204 if clients should not come back.
        request.expectedStatus = 200
        request.options.delivery = .streamed
        request.options.idleTimeout = idleTimeout
        request.settings.joins = false
        request.settings.cachePolicy = .bypass
        request.retry = .never
    }

    /// Whether a connection carried something of a user: a field whose name sounds secret and whose value is not that of
    /// the environment, whose own credentials belong to no user.
    package static func isPersonal(_ response: DataResponse, in environment: EnvironmentSnapshot) -> Bool {
        (response.sentFields ?? [:]).contains { field in
            SecretName.isSecret(field.name.canonicalName, .stored)
                && field.value != environment.headerFields[field.name]
        }
    }

    /// The events of a response.
    ///
    /// - Throws: `protocolViolation` if it is not an event stream.
    package static func events(
        of response: DataResponse, maximumSize: Int
    ) throws(RequestFailure) -> ServerSentEventSequence {
        guard response.headerFields[.contentType]?.lowercased().hasPrefix("text/event-stream") == true else {
            throw RequestFailure(
                .protocolViolation, "The response is not an event stream.",
                remedy: "Correct the path, or the type of the response: text/event-stream.")
        }
        return response.body.serverSentEvents(maximumSize: maximumSize)
    }
}
