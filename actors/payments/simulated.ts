// In development mode the simulated providers call back as the real ones do, once they know where.
import type { PaymentProvider } from '../catalog/payments/provider.ts';

const registerMs = 5_000;

/** Tells the simulator where its webhooks go. Without an answer everything works but callbacks. */
export async function registerWebhooks(
  providers: readonly PaymentProvider[],
  simulatorUrl: string,
  origin: string,
): Promise<void> {
  const simulated = providers.filter(({ account }) => account.baseUrl === simulatorUrl);
  await Promise.all(
    simulated.map(async ({ name, account, webhookSecrets }) => {
      const url = `${origin}/api/payments/webhooks/${name}`;
      const body = JSON.stringify({ family: account.kind, url, secret: webhookSecrets[0] });
      const signal = AbortSignal.timeout(registerMs);
      const reply = await fetch(`${simulatorUrl}/sim/webhooks`, { method: 'POST', body, signal });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`the simulator takes no webhooks of ${name}`);
    }),
  );
}
