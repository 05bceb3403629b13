import Device
import Encoding
import SignIn
import Testing

/// The API helper's loop as a value: SenseCrypt description, "Using the tokens".
@Suite struct APICallTests {
    /// What may come back for a request.
    enum Answer: CaseIterable, Sendable {
        case fine, wantsNonce, wantsNonceWithoutOne, invalidToken, otherUnauthorized, forbidden

        var status: Int {
            switch self {
            case .fine: 200
            case .forbidden: 403
            case .wantsNonce, .wantsNonceWithoutOne, .invalidToken, .otherUnauthorized: 401
            }
        }

        var challenges: [String] {
            switch self {
            case .wantsNonce, .wantsNonceWithoutOne: [#"DPoP error="use_dpop_nonce""#]
            case .invalidToken, .forbidden: [#"DPoP error="invalid_token""#]
            case .fine, .otherUnauthorized: []
            }
        }
    }

    /// What is seen in each answer, read once.
    private static let observations = Answer.allCases.map { answer in
        (
            answer,
            try? APIAnswer.observeResponse(
                url: "https://api.acme.example/", status: answer.status, wwwAuthenticate: answer.challenges,
                dpopNonce: answer == .wantsNonceWithoutOne ? [] : ["n"])
        )
    }

    private static func seen(_ answer: Answer) throws -> APIAnswer.Observation {
        try #require(observations.first { $0.0 == answer }?.1)
    }

    /// What a refresh may come to.
    enum Renewal: CaseIterable, Sendable {
        case renewed, noSession, ended, network, server

        func result(_ number: Int) -> APICall.Refreshed {
            switch self {
            case .renewed: .session(APICallTests.session("renewed-\(number)", expiresIn: 300))
            case .noSession: .noSession
            case .ended: .failed(.signInRequired(message: "ended"))
            case .network: .failed(.network(message: "gone"))
            case .server: .failed(.server(message: "sick"))
            }
        }
    }

    private static let now = Phone.now

    private static func session(_ accessToken: String, expiresIn seconds: Int64, refreshes: Bool = true) -> TokenSession
    {
        var session = RefreshScript.session
        session.accessToken = accessToken
        session.expiresAt = now.adding(seconds: seconds)
        if !refreshes { session.refreshToken = nil }
        return session
    }

    /// A call played to its end: what went out with which token, what was refreshed, and how it ended.
    struct Played: Equatable {
        var sent: [String?] = []
        var refreshed: [String] = []
        var failure: RefreshError?
    }

    private func play(
        _ stored: TokenSession?, isReplayable: Bool = true, answers: [Answer], renewals: [Renewal] = []
    ) throws -> Played {
        var played = Played()
        // A server that has said its last word repeats it.
        let lastWord = answers.last ?? .fine
        var (answers, renewals) = (answers[...], renewals[...])
        var call = APICall(isReplayable: isReplayable)
        var next = call.start(with: stored, at: Self.now)
        while true {
            switch next {
            case .send(let session):
                played.sent.append(session?.tokens.accessToken)
                next = call.answered(try Self.seen(answers.popFirst() ?? lastWord), at: Self.now)
                try #require(played.sent.count < 10)
            case .refresh(let session):
                played.refreshed.append(session.accessToken)
                next = call.refreshed((renewals.popFirst() ?? .renewed).result(played.refreshed.count), at: Self.now)
            case .done: return played
            case .fail(let error):
                played.failure = error
                return played
            }
        }
    }

    @Test func `without a session a request goes out unchanged, once, whatever comes back`() throws {
        for answer in Answer.allCases {
            #expect(try play(nil, answers: [answer]) == Played(sent: [nil]))
            let over = Self.session("old", expiresIn: 0, refreshes: false)
            #expect(try play(over, answers: [answer]) == Played(sent: [nil]))
        }
    }

    @Test func `a session that is due is refreshed first`() throws {
        let played = try play(Self.session("old", expiresIn: 30), answers: [.fine])
        #expect(played == Played(sent: ["renewed-1"], refreshed: ["old"]))
        #expect(try play(Self.session("old", expiresIn: 31), answers: [.fine]) == Played(sent: ["old"]))
        let plain = Self.session("old", expiresIn: 5, refreshes: false)
        #expect(try play(plain, answers: [.fine]) == Played(sent: ["old"]))
    }

    @Test func `a refresh that ends the session sends the request without one`() throws {
        for renewal in [Renewal.ended, .noSession] {
            for seconds in [-5, 10] as [Int64] {
                let played = try play(Self.session("old", expiresIn: seconds), answers: [.fine], renewals: [renewal])
                #expect(played == Played(sent: [nil], refreshed: ["old"]))
            }
        }
    }

    @Test func `a refresh that could not be served goes on while the token lives, then fails the call`() throws {
        for renewal in [Renewal.network, .server] {
            let alive = try play(Self.session("old", expiresIn: 1), answers: [.fine], renewals: [renewal])
            #expect(alive == Played(sent: ["old"], refreshed: ["old"]))
            let over = try play(Self.session("old", expiresIn: 0), answers: [.fine], renewals: [renewal])
            #expect(over.sent.isEmpty)
            #expect(over.failure != nil)
        }
    }

    @Test func `every other 401 and every 403 is returned untouched`() throws {
        for answer in [Answer.otherUnauthorized, .forbidden, .wantsNonceWithoutOne] {
            #expect(try play(Self.session("old", expiresIn: 300), answers: [answer]) == Played(sent: ["old"]))
        }
    }

    @Test func `after invalid_token the API's answer stands when the session could not be renewed`() throws {
        for renewal in [Renewal.ended, .noSession, .network, .server] {
            let played = try play(
                Self.session("old", expiresIn: 300), answers: [.invalidToken], renewals: [renewal])
            #expect(played == Played(sent: ["old"], refreshed: ["old"]))
        }
    }

    /// Every sequence of four answers, the last repeated, with every refresh result that matters, every kind of session and body.
    @Test func `the loop is bounded and keeps its rules for every sequence of answers`() throws {
        let sessions: [TokenSession?] = [
            nil, Self.session("old", expiresIn: 300), Self.session("old", expiresIn: 10),
            Self.session("old", expiresIn: -10), Self.session("old", expiresIn: 300, refreshes: false),
        ]
        var sequences: [[Answer]] = [[]]
        for _ in 0..<4 { sequences = sequences.flatMap { head in Answer.allCases.map { head + [$0] } } }
        for answers in sequences {
            for session in sessions {
                for isReplayable in [true, false] {
                    for renewal in [Renewal.renewed, .ended, .network] {
                        let played = try play(
                            session, isReplayable: isReplayable, answers: answers, renewals: [.renewed, renewal])
                        try judge(played, session, isReplayable, answers)
                    }
                }
            }
        }
    }

    private func judge(_ played: Played, _ session: TokenSession?, _ isReplayable: Bool, _ answers: [Answer]) throws {
        let isDue = session.map { $0.refreshToken != nil && $0.needsRefresh(at: Self.now) } ?? false
        #expect(played.sent.count <= 4)
        #expect(played.refreshed.count <= (isDue ? 2 : 1))
        if !isReplayable { #expect(played.sent.count <= 1) }
        // A token is used for two requests at most: the first and its nonce repeat.
        #expect(Dictionary(grouping: played.sent) { $0 }.values.allSatisfy { $0.count <= 2 })
        // A request is only repeated after an answer that asks for it.
        let heeded = answers.prefix(max(0, played.sent.count - 1))
        #expect(heeded.allSatisfy { $0 == .wantsNonce || $0 == .invalidToken })
        // Nobody refreshes the same token twice.
        #expect(Set(played.refreshed).count == played.refreshed.count)
    }
}
