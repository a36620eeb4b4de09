// Every route of the service, in order. Read this first.
import { listAudit } from './admin/audit/list-events.ts';
import { catalogRoutes } from './admin/catalog/routes.ts';
import { testProvider } from './admin/catalog/test-provider.ts';
import { adminStatus } from './admin/status.ts';
import { createUser } from './admin/users/create-user.ts';
import { createUserKey } from './admin/users/create-user-key.ts';
import { getUser } from './admin/users/get-user.ts';
import { listUserKeys } from './admin/users/list-user-keys.ts';
import { listUsers } from './admin/users/list-users.ts';
import { revokeUserKey } from './admin/users/revoke-user-key.ts';
import { disableUser, enableUser } from './admin/users/switch-user.ts';
import { updateUser } from './admin/users/update-user.ts';
import { failJob } from './admin/video-jobs/fail-job.ts';
import { getAnyJob } from './admin/video-jobs/get-job.ts';
import { listAllJobs } from './admin/video-jobs/list-jobs.ts';
import { debitWallet } from './admin/wallets/debit-wallet.ts';
import { getWallet } from './admin/wallets/get-wallet.ts';
import { grantCredits } from './admin/wallets/grant-credits.ts';
import { listLedger } from './admin/wallets/list-ledger.ts';
import { listWallets } from './admin/wallets/list-wallets.ts';
import { revokeGrant } from './admin/wallets/revoke-grant.ts';
import { createSpeech } from './audio/create-speech.ts';
import { createTranscription } from './audio/create-transcription.ts';
import { billingSummary } from './billing/summary.ts';
import { createChatCompletion } from './chat/create-completion.ts';
import type { AppRoute } from './define.ts';
import { catalog } from './discovery/catalog.ts';
import { health } from './discovery/health.ts';
import { modelStatus } from './discovery/model-status.ts';
import { publicModels } from './discovery/public-models.ts';
import { cancelGeneration } from './generations/cancel-generation.ts';
import { getGeneration } from './generations/get-generation.ts';
import { createKey } from './keys/create-key.ts';
import { listKeys } from './keys/list-keys.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { createLegacyResponse } from './llm/create-response.ts';
import { deleteVideo } from './me/delete-video.ts';
import { getVideo } from './me/get-video.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { createMessage } from './messages/create-message.ts';
import { getModel } from './models/get-model.ts';
import { listLlmModels } from './models/list-llm-models.ts';
import { listModels } from './models/list-models.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { docsRoutes } from './pages/docs.ts';
import { lendVideoSession } from './pages/video/lend-session.ts';
import { videoPageRoutes } from './pages/video/page.ts';
import { lendVoiceKey } from './pages/voice/lend-key.ts';
import { voicePageRoutes } from './pages/voice/page.ts';
import { cancelResponse } from './responses/cancel-response.ts';
import { compactResponse } from './responses/compact-response.ts';
import { countResponseTokens } from './responses/count-tokens.ts';
import { createResponse } from './responses/create-response.ts';
import { deleteResponse } from './responses/delete-response.ts';
import { getResponse } from './responses/get-response.ts';
import { listInputItems } from './responses/list-input-items.ts';
import { openResponseSocket } from './responses/open-socket.ts';
import type { Access, Caller, Services } from './services.ts';
import { cancelJob } from './video/cancel-job.ts';
import { createVideoAnalysis } from './video/create-analysis.ts';
import { createJob } from './video/create-job.ts';
import { getVideoAnalysis } from './video/get-analysis.ts';
import { getContent } from './video/get-content.ts';
import { getJob } from './video/get-job.ts';
import { listJobs } from './video/list-jobs.ts';
import { createTicket } from './voice/create-ticket.ts';
import { listVoices } from './voice/list-voices.ts';
import { openSession } from './voice/open-session.ts';

export const routes: readonly AppRoute[] = [
  // Discovery: no key needed.
  health,
  catalog,
  publicModels,
  modelStatus,
  ...openApiRoutes(() => routes),
  ...docsRoutes<Access, Caller, Services>({ kind: 'none' }),
  ...voicePageRoutes,
  lendVoiceKey,
  ...videoPageRoutes,
  lendVideoSession,

  // Generation: an API key with its scope.
  listModels,
  getModel,
  listLlmModels,
  createChatCompletion,
  createResponse,
  openResponseSocket,
  countResponseTokens,
  compactResponse,
  createLegacyResponse,
  getResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
  createMessage,
  countMessageTokens,
  getGeneration,
  cancelGeneration,

  // Voice: a key with its scope, or a signed-in user.
  listVoices,
  createTicket,
  openSession,

  // Audio: an API key with its scope.
  createSpeech,
  createTranscription,

  // Video: a key with its scope, or a signed-in user; analyses: a key.
  createJob,
  listJobs,
  getJob,
  cancelJob,
  getContent,
  createVideoAnalysis,
  getVideoAnalysis,
  getVideo,
  deleteVideo,

  // The caller's own account.
  listKeys,
  createKey,
  revokeKey,
  billingSummary,

  // Administration.
  adminStatus,
  ...catalogRoutes,
  testProvider,
  listUsers,
  createUser,
  getUser,
  updateUser,
  disableUser,
  enableUser,
  listUserKeys,
  createUserKey,
  revokeUserKey,
  listWallets,
  getWallet,
  listLedger,
  grantCredits,
  revokeGrant,
  debitWallet,
  listAllJobs,
  getAnyJob,
  failJob,
  listAudit,
];
