internal import Encoding
internal import HTTP
internal import OAuth

// From the start to the code: metadata, and the way through the browser by one of two doors.

extension AuthorizationCodeSignIn {
    mutating func idle(_ event: Event) -> [Effect] {
        switch event {
        case .start(let thumbprint, let secrets): return start(Ground(installThumbprint: thumbprint, secrets: secrets))
        case .cancel: return fail(.cancelled)
        case .discovered, .discoveryFailed, .listening, .visited, .redirected, .browserFailed, .responded, .lost,
            .keyUnavailable, .committed:
            return []
        }
    }

    private mutating func start(_ ground: Ground) -> [Effect] {
        precondition(PKCE.isVerifier(ground.secrets.codeVerifier), "the edge draws a verifier of RFC 7636 section 4.1")
        if let rule = config.brokenRule ?? door.brokenRule { return fail(.invalidConfig(message: rule)) }
        return discover(ground, attempt: 1)
    }

    private mutating func discover(_ ground: Ground, attempt: Int) -> [Effect] {
        let effect = emit(.discover(issuer: config.issuer))
        phase = .discovering(Discovering(ground: ground, sending: Sending(effect: effect.id, attempt: attempt)))
        return [effect]
    }

    mutating func discovering(_ phase: Discovering, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .discovered(_, let metadata): return discovered(phase.ground, metadata)
        case .discoveryFailed(_, .unreachable(let detail)), .lost(_, let detail):
            // A lost discovery is asked once more.
            guard phase.sending.attempt < 2 else { return fail(.network(lost: "metadata", detail)) }
            return discover(phase.ground, attempt: phase.sending.attempt + 1)
        case .discoveryFailed(_, .unavailable(429, let retryAfter)):
            return fail(.rateLimited(retryAfterSeconds: RetryAfter.seconds(retryAfter, at: now)))
        case .discoveryFailed(_, .unavailable(let status, _)):
            return fail(.server(message: "the metadata address answered \(status)"))
        case .discoveryFailed(_, .invalid(let error)): return fail(.server(message: error.description))
        case .cancel: return fail(.cancelled)
        case .start, .listening, .visited, .redirected, .browserFailed, .responded, .keyUnavailable, .committed:
            return []
        }
    }

    private mutating func discovered(_ ground: Ground, _ metadata: ServerMetadata) -> [Effect] {
        guard let authorization = metadata.authorizationEndpoint else {
            return fail(.server(message: "the metadata document has no authorization_endpoint"))
        }
        guard let redirectURI = try? RedirectURI(door.redirectURI) else {
            preconditionFailure("the redirect URI was checked at the start")
        }
        let server = Server(
            authorization: authorization.text, token: metadata.tokenEndpoint.text,
            revocation: metadata.revocationEndpoint?.text, redirectsNameIssuer: metadata.redirectsNameIssuer)
        let visit = Visit(ground: ground, server: server, redirectURI: redirectURI)
        switch door {
        case .browser: return open(visit)
        case .direct: return self.visit(visit, url(of: visit), page: 1, attempt: 1)
        }
    }

    private func url(of visit: Visit) -> String {
        guard let endpoint = try? HTTPURL(visit.server.authorization) else {
            preconditionFailure("the metadata's endpoints are URLs")
        }
        let secrets = visit.ground.secrets
        return AuthorizationRequest(
            clientID: config.clientID, redirectURI: visit.redirectURI, scopes: config.scopes,
            resource: config.resource, loginHint: config.loginHint, state: secrets.state, nonce: secrets.nonce,
            codeVerifier: secrets.codeVerifier, thumbprint: visit.ground.installThumbprint
        ).url(at: endpoint)
    }

    private mutating func arrived(_ visit: Visit, query: String) -> [Effect] {
        do throws(RedirectRefusal) {
            let response = try AuthorizationResponse(
                query: query, state: visit.ground.secrets.state, issuer: config.issuer,
                issuerIsDue: visit.server.redirectsNameIssuer)
            switch response {
            case .code(let code): return redeem(code, visit, attempt: 1)
            case .refused(let error, _): return fail(.refusal(of: "authorization", error, response.description))
            }
        } catch {
            return fail(.invalidRedirect(message: error.description))
        }
    }
}

// The first door: the phone asks for the pages itself.

extension AuthorizationCodeSignIn {
    private mutating func visit(_ visit: Visit, _ url: String, page: Int, attempt: Int) -> [Effect] {
        let effect = emit(.visit(url: url, page: page, attempt: attempt))
        let sending = Sending(effect: effect.id, attempt: attempt)
        phase = .visiting(Visiting(visit: visit, url: url, page: page, sending: sending))
        return [effect]
    }

    mutating func visiting(_ phase: Visiting, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .visited(_, let response, let location): return visited(phase, response, location, at: now)
        case .lost(_, let detail):
            // Asking for a page twice is safe; a code that got lost is never redeemed.
            guard phase.sending.attempt < 2 else { return fail(.network(lost: "authorization request", detail)) }
            return visit(phase.visit, phase.url, page: phase.page, attempt: phase.sending.attempt + 1)
        case .cancel: return fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .listening, .redirected, .browserFailed, .responded,
            .keyUnavailable, .committed:
            return []
        }
    }

    private mutating func visited(
        _ phase: Visiting, _ response: CallResponse, _ location: String?, at now: Instant
    ) -> [Effect] {
        switch response.trouble(at: now) {
        case .rateLimited(let seconds): return fail(.rateLimited(retryAfterSeconds: seconds))
        case .unavailable(let status):
            return fail(.server(message: "the authorization endpoint answered \(status)"))
        case nil: break
        }
        guard (300...399).contains(response.status) else { return fail(.page(response)) }
        guard let location, let page = try? HTTPURL(phase.url) else {
            return fail(.server(message: "the authorization endpoint answered \(response.status) without Location"))
        }
        return follow(Location.resolve(location, against: page), from: phase, page)
    }

    private mutating func follow(_ address: String, from phase: Visiting, _ page: HTTPURL) -> [Effect] {
        if let query = phase.visit.redirectURI.query(of: address) { return arrived(phase.visit, query: query) }
        guard let next = try? HTTPURL(address) else {
            return fail(.server(message: "the authorization endpoint redirects to something that is no URL"))
        }
        guard next.origin == page.origin else {
            return fail(.browserNeeded(message: "the authorization server sends the browser on to \(next.origin)"))
        }
        guard phase.page < Visiting.pageLimit else {
            return fail(.server(message: "the authorization endpoint redirects more than \(phase.page) times"))
        }
        return visit(phase.visit, next.text, page: phase.page + 1, attempt: 1)
    }
}

// The second door: a person's browser, which comes back to a loopback address.

extension AuthorizationCodeSignIn {
    mutating func open(_ visit: Visit) -> [Effect] {
        let effect = emit(.listen(redirectURI: visit.redirectURI.text))
        phase = .opening(Opening(visit: visit, effect: effect.id))
        return [effect]
    }

    mutating func opening(_ phase: Opening, _ event: Event) -> [Effect] {
        switch event {
        case .listening(_, let text):
            guard let redirectURI = try? RedirectURI(text) else {
                preconditionFailure("the edge listens where it was told to, give or take the port")
            }
            let old = phase.visit
            return wait(Visit(ground: old.ground, server: old.server, redirectURI: redirectURI))
        case .browserFailed(_, let detail), .lost(_, let detail):
            return fail(.invalidConfig(message: "the redirect URI cannot be listened at: \(detail)"))
        case .cancel: return fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .visited, .redirected, .responded, .keyUnavailable, .committed:
            return []
        }
    }

    private mutating func wait(_ visit: Visit) -> [Effect] {
        let url = url(of: visit)
        let effect = emit(.awaitBrowser(url: url))
        phase = .waiting(Waiting(visit: visit, url: url, effect: effect.id))
        return [effect]
    }

    mutating func waiting(_ phase: Waiting, _ event: Event) -> [Effect] {
        switch event {
        case .redirected(_, let address):
            guard let query = phase.visit.redirectURI.query(of: address) else {
                return fail(.invalidRedirect(message: "the browser came back to another place than the redirect URI"))
            }
            return arrived(phase.visit, query: query)
        case .browserFailed(_, let detail), .lost(_, let detail):
            return fail(.network(message: "the browser did not come back: \(detail)"))
        case .cancel: return fail(.cancelled)
        case .start, .discovered, .discoveryFailed, .listening, .visited, .responded, .keyUnavailable, .committed:
            return []
        }
    }
}

extension BrowserDoor {
    /// The redirect URI as it was asked for.
    var redirectURI: String {
        switch self {
        case .direct(let text): text
        case .browser(let text): text ?? Self.anyPort
        }
    }

    /// The first rule this door breaks, as a sentence, or nil.
    var brokenRule: String? {
        let uri: RedirectURI
        do { uri = try RedirectURI(redirectURI) } catch { return error.description }
        switch self {
        case .direct: return nil
        case .browser:
            return uri.loopback == nil || uri.loopback?.query != nil
                ? "the redirect URI of a browser must be plain http on loopback, without a query" : nil
        }
    }
}

extension SignInFailure {
    /// A page where a redirect was due.
    fileprivate static func page(_ response: CallResponse) -> SignInFailure {
        if let error = try? OAuthErrorBody(refusal: response) {
            return .refusal(of: "authorization", error.code, error.description)
        }
        guard (200...299).contains(response.status) else {
            return .server(message: "the authorization endpoint answered \(response.status)")
        }
        return .browserNeeded(message: "the authorization server shows a page where it could have redirected at once")
    }

    /// What an `error` of a standard endpoint means for the flow (RFC 6749 sections 4.1.2.1 and 5.2).
    static func refusal(of request: String, _ error: OAuthErrorCode, _ text: String) -> SignInFailure {
        switch error {
        case .accessDenied, .unauthorizedClient, .invalidClient:
            .notAllowed(message: "the authorization server does not let this user or application sign in: \(text)")
        case .useAttestationChallenge, .useFreshAttestation, .invalidClientAttestation:
            .attestationFailed(message: "the \(request) was refused: \(text)")
        // Error codes are an open set.
        default: .server(message: "the \(request) was refused: \(text)")
        }
    }
}
