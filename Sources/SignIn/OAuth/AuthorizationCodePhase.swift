internal import Device
internal import OAuth

extension AuthorizationCodeSignIn {
    /// Where a flow is, with exactly the data that step needs.
    enum Phase: Codable, Sendable, Equatable {
        /// Nothing happened yet; waits for ``Event/start(installThumbprint:_:)``.
        case idle
        /// Waits for metadata.
        case discovering(Discovering)
        /// Waits for the redirect URI to be listened at.
        case opening(Opening)
        /// Waits for a page.
        case visiting(Visiting)
        /// Waits for a person's browser.
        case waiting(Waiting)
        /// Waits for the answer to the token request.
        case redeeming(Redeeming)
        /// Waits for the session to be stored.
        case committing(Committing)
        /// Over, well.
        case signedIn(SignedInSummary)
        /// Over, not well; may still wait for the answers to its tidying up.
        case failed(Over)

        /// What the app sees of this phase.
        var state: SignInState {
            switch self {
            case .idle: .idle
            case .discovering, .opening: .starting
            case .visiting: .authorizing(url: nil)
            case .waiting(let phase): .authorizing(url: phase.url)
            case .redeeming, .committing: .redeeming
            case .signedIn(let summary): .signedIn(summary)
            case .failed(let over): .failed(over.failure)
            }
        }

        /// The one effect whose answer is awaited.
        var awaited: EffectID? {
            switch self {
            case .idle, .signedIn: nil
            case .discovering(let phase): phase.sending.effect
            case .opening(let phase): phase.effect
            case .visiting(let phase): phase.sending.effect
            case .waiting(let phase): phase.effect
            case .redeeming(let phase): phase.sending.effect
            case .committing(let phase): phase.effect
            case .failed(let over): over.grant?.effect
            }
        }
    }

    /// What is fixed from the start of the flow on.
    struct Ground: Codable, Sendable, Equatable {
        /// The thumbprint of the install's DPoP key, which code and tokens are bound to.
        let installThumbprint: String
        let secrets: Secrets
    }

    /// What of the server's metadata the flow needs.
    struct Server: Codable, Sendable, Equatable {
        let authorization: String
        let token: String
        let revocation: String?
        let redirectsNameIssuer: Bool
    }

    /// One way through the browser: from here to the redirect URI.
    struct Visit: Codable, Sendable, Equatable {
        let ground: Ground
        let server: Server
        let redirectURI: RedirectURI
    }

    /// Waits for metadata.
    struct Discovering: Codable, Sendable, Equatable {
        let ground: Ground
        var sending: Sending
    }

    /// Waits for the redirect URI to be listened at.
    struct Opening: Codable, Sendable, Equatable {
        let visit: Visit
        let effect: EffectID
    }

    /// Waits for a page.
    struct Visiting: Codable, Sendable, Equatable {
        /// More redirects than a server that approves by itself needs.
        static let pageLimit = 16

        let visit: Visit
        let url: String
        /// Counts the pages, beginning with 1.
        let page: Int
        var sending: Sending
    }

    /// Waits for a person's browser.
    struct Waiting: Codable, Sendable, Equatable {
        let visit: Visit
        let url: String
        let effect: EffectID
    }

    /// Waits for the answer to the token request.
    struct Redeeming: Codable, Sendable, Equatable {
        let visit: Visit
        /// The authorization code, a secret.
        let code: String
        var sending: Sending
    }

    /// Waits for the session to be stored.
    ///
    /// From here on it is too late to cancel.
    struct Committing: Codable, Sendable, Equatable {
        let tokens: TokenSession
        let summary: SignedInSummary
        let server: Server
        let effect: EffectID
    }

    /// Over, not well; may still wait for tokens that come too late, or for the answer to their revocation.
    struct Over: Codable, Sendable, Equatable {
        let failure: SignInFailure
        var grant: Ended.Grant?
    }
}
